import { Type } from 'typebox'
import { fence, type Sql, sql } from '../../../infra/postgres/db.ts'
import { type JointCall, jointMany } from '../../../infra/postgres/joint.ts'
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { leaseEnd, leaseNow, ownTimeAt, ownTimeOf } from '../../../infra/runtime/lease-time.ts'
import { CHANNELS, type Channel } from '../../../lib/channels.ts'
import type { CampaignId, MessageId, ProjectId, UserId } from '../../../lib/ids.ts'
import { IdOf, Instant, Nullable, OneOf } from '../../../lib/shapes.ts'
import { IDEMPOTENT_PROVIDERS } from '../../channels/index.ts'
import { ATTEMPTED_STATES, ClaimedMessage, type MessageResult, type Priority } from '../schema.ts'

/**
 * A condition that messages `m` are among locked rows. They are found by their physical location, because with a join, or with a plain
 * comparison of the project, PostgreSQL may choose any index of the project. A row that changed after the statement began is left out.
 */
export const among = (rows: Sql) => sql`m.ctid = any(array(select tid from ${rows}))`

/** That a message waits in the queue of its channel. */
export const isDue = sql`state in ('queued', 'deferred') and not is_held`

/** The messages of one project and channel. Queues do not wait for each other. */
export type Queue = { project_id: ProjectId; channel: Channel }

/** With a campaign it is the rate queue of that campaign. */
const WaitingRow = Type.Object({
  project_id: IdOf<ProjectId>(),
  channel: OneOf(CHANNELS),
  campaign_id: Nullable(IdOf<CampaignId>()),
  due_at: Instant,
})

/** The queues of a priority, as a table `waiting`, with the time of their next message. The index is read from one queue to the next. */
const waitingQueues = (priority: Priority) =>
  sql`with recursive waiting as (
        (select project_id, channel, due_at from messages
         where ${isDue} and priority = ${priority}
         order by project_id, channel, due_at
         limit 1)
        union all
        select further.project_id, further.channel, further.due_at
        from waiting w
        cross join lateral (
          select m.project_id, m.channel, m.due_at from messages m
          where ${isDue} and m.priority = ${priority} and (m.project_id, m.channel) > (w.project_id, w.channel)
          order by m.project_id, m.channel, m.due_at
          limit 1
        ) further
      )`

/** The queues of a priority, rate queues among them, and when there is something to do for them; longest waiting first. */
export const queuesByDueTime = (ctx: Ctx, priority: Priority, limit: number) =>
  ctx.db.many(
    WaitingRow,
    sql`${waitingQueues(priority)}
        select project_id, channel, null::bigint as campaign_id, due_at from waiting
        union all
        (select project_id, channel, campaign_id, ${ownTimeAt(ctx, sql`next_at`)} from rate_queues
         where priority = ${priority} order by next_at limit ${limit})
        order by due_at, project_id, channel, campaign_id
        limit ${limit}`,
  )

/** When there is something to do for the next message of a priority. */
export const nextDueAt = (ctx: Ctx, priority: Priority): Promise<Date | null> =>
  ctx.db.value(
    Nullable(Instant),
    sql`${waitingQueues(priority)}
        select least((select min(due_at) from waiting),
                     (select ${ownTimeAt(ctx, sql`next_at`)} from rate_queues where priority = ${priority} order by next_at limit 1)) as due_at`,
  )

/** What a sender reads of a message that it claims. */
export const claimedColumns = sql`m.id, m.project_id, m.user_id, m.campaign_id, m.channel, m.cause, m.variant, m.event, m.attempts, m.due_at, m.expires_at,
                  m.lease_token, m.created_at, m.journey_id, m.entrance_id, m.step, m.is_requested, m.resent_from,
                  m.provider_id, m.uncertain_at`

/**
 * What a claim sets. `q` has the token of the lease. A result without an attempt takes the count back. That of a sender that died stays, so that
 * a message which makes its senders die is given up.
 */
export const claimedAs = (ctx: Pick<Ctx, 'clock'>, leaseUntil: Date) =>
  sql`state = 'claimed', acted_at = ${ctx.clock.now()}, attempts = m.attempts + 1, lease_token = q.token,
      lease_until = ${leaseEnd(ctx, leaseUntil)}`

/** A queue, and how many messages to claim from it. */
export type Share = Queue & { limit: number }

/** Messages in the order in which they came due: an update returns its rows in any order. A rate is spent in this order. */
export const byDueTime = (messages: ClaimedMessage[]): ClaimedMessage[] =>
  messages.sort((a, b) => a.due_at.getTime() - b.due_at.getTime() || a.id - b.id)

/** Claims due messages: no other sender takes them before the lease ends. Those of a project have one token. */
export const claimMessages = async (ctx: Ctx, priority: Priority, shares: Share[], leaseUntil: Date) =>
  byDueTime(
    await ctx.db.many(
      ClaimedMessage,
      sql`with tokens as materialized (
          select project_id, gen_random_uuid() as token
          from unnest(${shares.map(({ project_id }) => project_id)}::bigint[]) as p(project_id)
          group by project_id
        ), queues as materialized (
          select project_id, channel, share, token
          from tokens
          join unnest(${shares.map(({ project_id }) => project_id)}::bigint[], ${shares.map(({ channel }) => channel)}::text[],
                      ${shares.map(({ limit }) => limit)}::integer[]) as q(project_id, channel, share) using (project_id)
        ), due as materialized (
          select m.tid
          from queues q
          cross join lateral (
            select ctid as tid from messages
            where ${isDue} and priority = ${priority} and project_id = q.project_id and channel = q.channel and due_at <= ${ctx.clock.now()}
            order by due_at, id
            limit q.share
            for update skip locked
          ) m
        )
        update messages m
        set ${claimedAs(ctx, leaseUntil)}
        from queues q
        where ${among(sql`due`)} and m.project_id + 0 = q.project_id and q.channel = m.channel
        returning ${claimedColumns}`,
    ),
  )

const Renewed = Type.Object({ id: IdOf<MessageId>() })

/** Extends leases. Returns the messages that are still claimed. */
export const renewLeases = (ctx: ProjectCtx, messages: readonly ClaimedMessage[], leaseUntil: Date) =>
  ctx.db.many(
    Renewed,
    sql`with held as materialized (
          select h.id
          from (
            select id, token
            from unnest(${messages.map(({ id }) => id)}::bigint[], ${messages.map(({ lease_token }) => lease_token)}::uuid[]) as l(id, token)
            order by id
          ) h
          cross join lateral (
            select state, lease_token from messages where project_id = ${ctx.projectId} and id = h.id ${fence} for update
          ) r
          where r.state = 'claimed' and r.lease_token = h.token
        )
        -- By id: a row that was changed while this waited for it lies elsewhere afterwards, where the statement does not see it.
        update messages m set lease_until = ${leaseEnd(ctx, leaseUntil)}
        where m.project_id = ${ctx.projectId} and m.id = any(array(select id from held))
        returning m.id`,
  )

const SavedResult = Type.Object({
  id: IdOf<MessageId>(),
  user_id: IdOf<UserId>(),
  is_erased: Type.Boolean(),
  priority: Type.Unsafe<Priority>({ type: 'integer' }),
  /** A report came first. */
  is_reported: Type.Boolean(),
})

/** Results, with the send attempt record of these messages, which is not needed any more. */
type Results = { messages: MessageResult[]; sendAttemptId: number | null }

/** What the last attempt sent. Of a message that its provider may have, it stays as long as no further attempt is made. */
const ofAttempt = (column: Sql) => sql`case when s.provider is null and m.uncertain_at is not null then m.${column} else s.${column} end`

const unlessReported = (value: Sql, kept: Sql) => sql`case when m.state = 'claimed' then ${value} else ${kept} end`

/**
 * Saves results of messages that this sender still has the lease of, and returns these with their current users. One that a report has settled
 * meanwhile keeps its state, and the end of its lease, which tells it from the others. The event of a message that was attempted is kept, because
 * reading the message later renders it again.
 */
export const saveResults = (ctx: InTx, results: Results) => saveAllResults(ctx, ctx.projectId, results)

const saveAllResults = jointMany(SavedResult, (ctx, calls: JointCall<Results>[]) => {
  const results = calls.flatMap(({ projectId, input }, call) =>
    input.messages.map((result) => ({ call, project_id: projectId, ...result })),
  )
  const attempts = calls.flatMap(({ projectId, input: { sendAttemptId } }) =>
    sendAttemptId === null ? [] : [{ project_id: projectId, id: sendAttemptId }],
  )
  const now = sql`${ctx.clock.now()}::timestamptz`
  return sql`with attempted as (
          delete from send_attempts a
          using jsonb_to_recordset(${JSON.stringify(attempts)}::jsonb) as d(project_id bigint, id bigint)
          where a.project_id = d.project_id and a.id = d.id
        )
        update messages m
        set state = ${unlessReported(sql`s.state`, sql`m.state`)}, reason = ${unlessReported(sql`s.reason`, sql`m.reason`)},
            detail = case when not m.is_erased then ${unlessReported(sql`s.detail`, sql`m.detail`)} end,
            acted_at = ${unlessReported(now, sql`m.acted_at`)}, due_at = coalesce(s.due_at, m.due_at),
            lease_token = null, lease_until = ${unlessReported(sql`null`, sql`m.lease_until`)},
            attempts = m.attempts - (s.provider is null)::integer, variant = s.variant,
            recipient = case when not m.is_erased then ${ofAttempt(sql`recipient`)} end,
            copies = case when not m.is_erased then ${ofAttempt(sql`copies`)} end,
            provider = coalesce(s.provider, m.provider), provider_id = coalesce(s.provider_id, m.provider_id),
            provider_message_id = coalesce(s.provider_message_id, m.provider_message_id), consent_id = coalesce(s.consent_id, m.consent_id),
            counts_to_caps = ${ofAttempt(sql`counts_to_caps`)}, uncertain_at = coalesce(m.uncertain_at, s.uncertain_at),
            event = case when s.state = 'deferred' or s.state = any(${ATTEMPTED_STATES}::text[]) and not m.is_erased then m.event end,
            settled_at = ${unlessReported(sql`case when s.state <> 'deferred' then ${now} end`, sql`m.settled_at`)}
        from jsonb_to_recordset(${JSON.stringify(results)}::jsonb)
             as s(call int, project_id bigint, id bigint, lease_token uuid, state text, reason text, detail text, due_at timestamptz, variant smallint, recipient text,
                  copies text[], provider text, provider_id bigint, provider_message_id text, consent_id bigint, counts_to_caps boolean, uncertain_at timestamptz)
        where m.project_id = s.project_id and m.id = s.id and m.lease_token = s.lease_token
          and (m.state = 'claimed' or s.provider is not null)
        returning s.call, m.id, m.user_id, m.is_erased, m.priority, m.lease_until is not null as is_reported`
})

/**
 * Releases messages whose sender died. Those in a send attempt record may have been sent, so their state is unknown, unless their provider takes
 * each once; all others are queued again. Records of earlier releases do not say what counts towards caps: a wait is the smaller error.
 */
export const releaseLeases = (ctx: Ctx, limit: number) =>
  ctx.db.run(
    sql`with expired as materialized (
          select ctid as tid, id, project_id, lease_token from messages
          where state = 'claimed' and lease_until <= ${leaseNow(ctx)}
          order by lease_until
          limit ${limit}
          for update skip locked
        ), attempted as (
          select attempted.id, coalesce(attempted.is_counted, true) as is_counted, a.project_id, a.provider, a.provider_id, a.created_at, a.provider = any(${IDEMPOTENT_PROVIDERS}::text[]) as is_repeated
          from send_attempts a
          cross join lateral unnest(a.message_ids, a.counted) as attempted(id, is_counted)
          where a.project_id = any(array(select project_id from expired)) and a.lease_token = any(array(select lease_token from expired))
        )
        update messages m
        set state = case when not attempted.is_repeated then 'unknown' else 'queued' end, acted_at = ${ctx.clock.now()},
            reason = case when not attempted.is_repeated then 'sender_lost' end,
            uncertain_at = coalesce(m.uncertain_at, case when attempted.is_repeated then attempted.created_at end),
            provider = coalesce(attempted.provider, m.provider), provider_id = coalesce(attempted.provider_id, m.provider_id),
            counts_to_caps = coalesce(attempted.is_counted, m.counts_to_caps),
            settled_at = case when not attempted.is_repeated then ${ctx.clock.now()}::timestamptz end,
            lease_token = null, lease_until = null
        from expired
        left join attempted on attempted.id = expired.id and attempted.project_id = expired.project_id
        where m.id = expired.id and m.project_id = expired.project_id and ${among(sql`expired`)}`,
  )

/** When the next lease ends, unless it is renewed. */
export const nextLeaseEnd = (ctx: Ctx): Promise<Date | null> =>
  ctx.db.value(
    Nullable(Instant),
    sql`select ${ownTimeOf(ctx, sql`lease_until`)} as lease_until
        from (select (select lease_until from messages where state = 'claimed' order by lease_until limit 1) as lease_until) next`,
  )

const Depth = Type.Object({ waiting: Type.Integer(), oldest: Nullable(Instant) })

/** The number of due messages over all projects, and the oldest due time. */
export const queueDepth = (ctx: Ctx) =>
  ctx.db.first(Depth, sql`select count(*) as waiting, min(due_at) as oldest from messages where ${isDue} and due_at <= ${ctx.clock.now()}`)
