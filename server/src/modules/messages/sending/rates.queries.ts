/**
 * Rate queues: the messages of a campaign that wait for a rate. They are out of the queue of their channel, because they are due later,
 * and are claimed as soon as the rate has room. `next_at` is by the time of the database: a process whose clock is ahead must not keep a queue
 * from the others.
 */
import { type Static, Type } from 'typebox'
import { type Sql, sql } from '../../../infra/postgres/db.ts'
import type { Ctx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { databaseNow, databaseTime, secondsUntil } from '../../../infra/runtime/lease-time.ts'
import type { SharedRate } from '../../../infra/runtime/shared-rate.ts'
import { CHANNELS, type Channel } from '../../../lib/channels.ts'
import type { CampaignId, MessageId, ProjectId } from '../../../lib/ids.ts'
import { Count, IdOf, Instant, OneOf } from '../../../lib/shapes.ts'
import { ClaimedMessage, type Priority } from '../schema.ts'
import { among, byDueTime, claimedAs, claimedColumns, isDue } from './queries.ts'

const QueueRow = Type.Object({ project_id: IdOf<ProjectId>(), campaign_id: IdOf<CampaignId>(), channel: OneOf(CHANNELS) })

export type RateQueue = Static<typeof QueueRow>

const waitsForRate = sql`state = 'deferred' and reason = 'rate_limited' and not is_held`

/** That a message is of a campaign. Written so that no index of all messages of the campaign can be chosen, most of which may be sent. */
const isOf = (campaignId: Sql) => sql`-m.campaign_id = -${campaignId}`

/** Opens rate queues that are not open. */
export const openRateQueues = (ctx: ProjectCtx, priority: Priority, queues: { campaign_id: CampaignId; channel: Channel; at: Date }[]) =>
  ctx.db.run(
    sql`insert into rate_queues (project_id, campaign_id, priority, channel, next_at)
        select ${ctx.projectId}, q.campaign_id, ${priority}, q.channel, ${databaseNow(ctx)} + make_interval(secs => q.seconds)
        from unnest(${queues.map(({ campaign_id }) => campaign_id)}::bigint[], ${queues.map(({ channel }) => channel)}::text[],
                    ${queues.map(({ at }) => secondsUntil(ctx, at))}::float8[]) as q(campaign_id, channel, seconds)
        order by q.campaign_id
        on conflict (project_id, campaign_id, priority) do nothing`,
  )

/** Where in time messages are put: as many as the rate allows in each of its intervals, not before `from`. `limit` is how many are looked at. */
type Schedule = { from: Date; rate: SharedRate; limit: number }

/** Where a slice of due messages ended, and how many of its messages were deferred. */
const Slice = Type.Object({ due_at: Instant, id: IdOf<MessageId>(), deferred: Count })

/**
 * Looks at the next slice of the due messages of a channel, behind `after`, and defers those of a campaign, behind its messages that already
 * wait for the rate. Most of a slice may be of other campaigns: what is read is limited, not what is deferred. Returns nothing at the end.
 */
export const deferDue = (
  ctx: ProjectCtx,
  priority: Priority,
  { campaign_id, channel }: Pick<RateQueue, 'campaign_id' | 'channel'>,
  { from, rate, limit }: Schedule,
  after?: Pick<Static<typeof Slice>, 'due_at' | 'id'>,
) => {
  const isInReach = sql`${isDue} and priority = ${priority} and project_id = ${ctx.projectId} and channel = ${channel} and due_at <= ${ctx.clock.now()}
            and ${after ? sql`(due_at, id) > (${after.due_at}, ${after.id})` : sql`true`}`
  return ctx.db.first(
    Slice,
    sql`with last as materialized (
          select greatest(${from}::timestamptz, (
            select due_at from messages m
            where ${waitsForRate} and project_id = ${ctx.projectId} and ${isOf(sql`${campaign_id}::bigint`)} and priority = ${priority}
            order by due_at desc, id desc
            limit 1
          )) as at
        ), slice as materialized (
          select due_at, id from messages
          where ${isInReach}
          order by due_at, id
          limit ${limit}
        ), ended as materialized (
          select due_at, id from slice order by due_at desc, id desc limit 1
        ), due as materialized (
          select ctid as tid, due_at, id from messages m
          where ${isInReach} and ${isOf(sql`${campaign_id}::bigint`)}
            and (due_at, id) <= ((select due_at from ended), (select id from ended))
          order by due_at, id
          for update skip locked
        ), placed as materialized (
          select tid, row_number() over (order by due_at, id) - 1 as place from due
        ), deferred as (
          update messages m
          set state = 'deferred', reason = 'rate_limited', acted_at = ${ctx.clock.now()},
              due_at = last.at + div(placed.place, ${rate.limit}) * ${rate.intervalMs}::bigint * interval '1 millisecond'
          from placed, last
          where m.ctid = placed.tid and m.project_id = ${ctx.projectId}
          returning 1
        )
        select due_at, id, (select count(*) from deferred) as deferred from ended`,
  )
}

/** Takes those rate queues that are due. No other process takes them before `until`. */
export const takeRateQueues = (ctx: Ctx, priority: Priority, queues: Pick<RateQueue, 'project_id' | 'campaign_id'>[], until: Date) =>
  ctx.db.many(
    QueueRow,
    sql`with due as materialized (
          select r.tid, q.project_id
          from unnest(${queues.map(({ project_id }) => project_id)}::bigint[], ${queues.map(({ campaign_id }) => campaign_id)}::bigint[])
               as q(project_id, campaign_id)
          cross join lateral (
            select ctid as tid from rate_queues r
            where r.project_id = q.project_id and r.campaign_id = q.campaign_id
              -- Written so that the index by time cannot be chosen.
              and r.priority + 0 = ${priority} and r.next_at + interval '0' <= ${databaseNow(ctx)}
            limit 1
            for update skip locked
          ) r
        )
        update rate_queues r
        set next_at = ${databaseTime(ctx, until)}
        -- Written so that no index can be chosen instead of the places of the rows.
        where r.ctid = any(array(select tid from due)) and r.project_id + 0 = any(array(select project_id from due))
        returning r.project_id, r.campaign_id, r.channel`,
  )

/** Claims messages that wait for a rate, of each queue as many as its rates have room for. */
export const claimRateLimited = async (
  ctx: Ctx,
  priority: Priority,
  shares: (Pick<RateQueue, 'project_id' | 'campaign_id'> & { limit: number })[],
  leaseUntil: Date,
) =>
  byDueTime(
    await ctx.db.many(
      ClaimedMessage,
      sql`with queues as materialized (
          select project_id, campaign_id, share, gen_random_uuid() as token
          from unnest(${shares.map(({ project_id }) => project_id)}::bigint[], ${shares.map(({ campaign_id }) => campaign_id)}::bigint[],
                      ${shares.map(({ limit }) => limit)}::integer[]) as q(project_id, campaign_id, share)
        ), waiting as materialized (
          select m.tid
          from queues q
          cross join lateral (
            select ctid as tid from messages m
            where ${waitsForRate} and m.project_id = q.project_id and ${isOf(sql`q.campaign_id`)} and priority = ${priority}
            order by due_at, id
            limit q.share
            for update skip locked
          ) m
        )
        update messages m
        set ${claimedAs(ctx, leaseUntil)}
        from queues q
        where ${among(sql`waiting`)} and m.project_id + 0 = q.project_id and ${isOf(sql`q.campaign_id`)}
        returning ${claimedColumns}`,
    ),
  )

/** Sets when a rate queue is due next. */
export const delayRateQueue = (ctx: Ctx, priority: Priority, { project_id, campaign_id }: RateQueue, at: Date) =>
  ctx.db.run(
    sql`update rate_queues set next_at = ${databaseTime(ctx, at)}
        where project_id = ${project_id} and campaign_id = ${campaign_id} and priority = ${priority}`,
  )

/**
 * Closes a rate queue without messages. Returns how many were closed. Messages that are being deferred at this moment are sent when they
 * are due.
 */
export const closeRateQueue = (ctx: Ctx, priority: Priority, { project_id, campaign_id }: RateQueue): Promise<number> =>
  ctx.db.run(
    sql`delete from rate_queues
        where project_id = ${project_id} and campaign_id = ${campaign_id} and priority = ${priority}
          and not exists (
            select from messages m
            where ${waitsForRate} and project_id = ${project_id} and ${isOf(sql`${campaign_id}::bigint`)} and priority = ${priority}
          )`,
  )
