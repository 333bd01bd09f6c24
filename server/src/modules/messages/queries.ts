import { Type } from 'typebox'
import type { Ctx, InTx, ProjectCtx } from '../../infra/ctx.ts'
import { type Sql, sql } from '../../infra/db.ts'
import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/paging.ts'
import type { CampaignId, MessageId, ProjectId, UserId } from '../../lib/ids.ts'
import { CHANNELS, IdOf, Instant, Nullable, OneOf } from '../../lib/shapes.ts'
import type { Rendered } from '../channels/index.ts'
import type { Merge } from '../users/index.ts'
import type { Reason } from './decide.ts'
import { CapturedRow, CapturedWholeRow, ClaimedMessage, type Intent, type MessageState } from './schema.ts'

const Enqueued = Type.Object({
  id: IdOf<MessageId>(),
  campaign_id: IdOf<CampaignId>(),
  channel: OneOf(CHANNELS),
  bytes: Type.Integer(),
})

/** Writes one message for each intent, but for causes that have one; answers those written, with the bytes each takes along. */
export const insertMessages = (ctx: InTx, intents: Intent[]) =>
  ctx.db.all(
    Enqueued,
    sql`insert into messages (project_id, user_id, campaign_id, channel, cause, event, due_at, created_at)
        select ${ctx.projectId}, i.user_id, i.campaign_id, i.channel, i.cause, i.event, ${ctx.clock.now()}, ${ctx.clock.now()}
        from jsonb_to_recordset(${JSON.stringify(intents)}::jsonb)
             as i(user_id bigint, campaign_id bigint, channel text, cause text, event jsonb)
        order by i.user_id, i.cause
        on conflict (project_id, user_id, cause) do nothing
        returning id, campaign_id, channel, coalesce(octet_length(event::text), 0) as bytes`,
  )

const isWaiting = (m: Sql) => sql`${m}state in ('queued', 'deferred')`
const bare = sql``

const ProjectRow = Type.Object({ project_id: IdOf<ProjectId>() })

/** Projects with due messages, those that wait longest first; found by hopping over the index from one project to the next. */
export const projectsDue = (ctx: Ctx, limit: number) =>
  ctx.db.all(
    ProjectRow,
    sql`with recursive waiting as (
          (select project_id, due_at from messages where ${isWaiting(bare)} order by project_id, due_at limit 1)
          union all
          select further.project_id, further.due_at
          from waiting w
          cross join lateral (
            select m.project_id, m.due_at from messages m
            where ${isWaiting(sql`m.`)} and m.project_id > w.project_id
            order by m.project_id, m.due_at
            limit 1
          ) further
        )
        select project_id from waiting where due_at <= ${ctx.clock.now()} order by due_at, project_id limit ${limit}`,
  )

/** Takes up to `share` due messages of each project; nobody else may send them before the lease ends. */
export const claimMessages = (ctx: Ctx, projectIds: ProjectId[], share: number, leaseUntil: Date, provider: string) =>
  ctx.db.all(
    ClaimedMessage,
    sql`with lease as materialized (
          select gen_random_uuid() as token
        ), due as materialized (
          select m.id, m.project_id
          from unnest(${projectIds}::bigint[]) as p(id)
          cross join lateral (
            select id, project_id from messages
            where project_id = p.id and ${isWaiting(bare)} and due_at <= ${ctx.clock.now()}
            order by due_at, id
            limit ${share}
            for update skip locked
          ) m
        )
        update messages m
        set state = 'claimed', attempts = m.attempts + 1, provider = ${provider}, lease_token = lease.token, lease_until = ${leaseUntil}
        from due, lease
        where m.id = due.id and m.project_id = due.project_id
        returning m.id, m.project_id, m.user_id, m.campaign_id, m.channel, m.event, m.attempts, m.due_at, m.lease_token, m.created_at`,
  )

/** A message as its sender leaves it. */
export type SettledMessage = {
  id: MessageId
  lease_token: string
  state: MessageState
  reason: Reason | null
  detail: string | null
  due_at: Date | null
}

const IdRow = Type.Object({ id: IdOf<MessageId>() })

/** Settles messages that are still this sender's; the answer are those. One that somebody else settled is left alone. */
export const settleMessages = (ctx: InTx, messages: SettledMessage[]) =>
  ctx.db.all(
    IdRow,
    sql`update messages m
        set state = s.state, reason = s.reason, detail = s.detail, due_at = coalesce(s.due_at, m.due_at), lease_token = null, lease_until = null,
            event = case when s.state = 'deferred' then m.event end,
            settled_at = case when s.state <> 'deferred' then ${ctx.clock.now()}::timestamptz end
        from jsonb_to_recordset(${JSON.stringify(messages)}::jsonb)
             as s(id bigint, lease_token uuid, state text, reason text, detail text, due_at timestamptz)
        where m.project_id = ${ctx.projectId} and m.id = s.id and m.state = 'claimed' and m.lease_token = s.lease_token
        returning m.id`,
  )

export type Capture = Rendered & { id: MessageId; user_id: UserId; campaign_id: CampaignId }

/** Puts what the sandbox captured into its inbox. */
export const insertCaptures = (ctx: InTx, captures: Capture[]) =>
  ctx.db.run(
    sql`insert into sandbox_messages (id, project_id, user_id, campaign_id, channel, recipient, summary, content, created_at)
        select c.id, ${ctx.projectId}, c.user_id, c.campaign_id, c.channel, c.recipient, c.summary, c.content, ${ctx.clock.now()}
        from jsonb_to_recordset(${JSON.stringify(captures)}::jsonb)
             as c(id bigint, user_id bigint, campaign_id bigint, channel text, recipient text, summary text, content jsonb)`,
  )

/**
 * Messages whose sender went away: queued again when nothing can have left (`repeatable` names those providers),
 * otherwise nobody knows, and the state says so.
 */
export const releaseLeases = (ctx: Ctx, repeatable: readonly string[], limit: number) =>
  ctx.db.run(
    sql`update messages m
        set state = case when expired.is_repeatable then 'queued' else 'unknown' end,
            reason = case when not expired.is_repeatable then 'sender_lost' end,
            settled_at = case when not expired.is_repeatable then ${ctx.clock.now()}::timestamptz end,
            event = case when expired.is_repeatable then m.event end,
            lease_token = null, lease_until = null
        from (select id, project_id, provider = any(${repeatable}::text[]) as is_repeatable from messages
              where state = 'claimed' and lease_until <= ${ctx.clock.now()}
              order by lease_until
              limit ${limit}
              for update skip locked) expired
        where m.id = expired.id and m.project_id = expired.project_id`,
  )

/** Can still be called back: it waits, or its sender holds it but nothing leaves before it is settled. */
const isRecallable = (m: Sql, repeatable: readonly string[]) =>
  sql`(${isWaiting(m)} or (${m}state = 'claimed' and ${m}provider = any(${repeatable}::text[])))`

/** Aborts what a campaign has not sent yet. */
export const abortMessages = (ctx: InTx, campaignId: CampaignId, repeatable: readonly string[]) =>
  ctx.db.run(
    sql`update messages
        set state = 'aborted', reason = 'campaign_stopped', event = null, lease_token = null, lease_until = null, settled_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and campaign_id = ${campaignId} and ${isRecallable(bare, repeatable)}`,
  )

/** Takes everything personal out of these people's messages, and sends them nothing more. Their rows stay locked. */
export const eraseMessages = (ctx: InTx, userIds: UserId[], repeatable: readonly string[]) =>
  ctx.db.run(
    sql`update messages m
        set state = case when ${isRecallable(sql`m.`, repeatable)} then 'skipped' else m.state end,
            reason = case when ${isRecallable(sql`m.`, repeatable)} then 'user_gone' else m.reason end,
            settled_at = case when ${isRecallable(sql`m.`, repeatable)} then ${ctx.clock.now()} else m.settled_at end,
            lease_token = case when not ${isRecallable(sql`m.`, repeatable)} then m.lease_token end,
            event = null, detail = null
        where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[])`,
  )

/** A statement of its own after the one above, so that it sees what a sender captured while that one waited for its locks. */
export const eraseCaptures = (ctx: InTx, userIds: UserId[]) =>
  ctx.db.run(sql`delete from sandbox_messages where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[])`)

const pairsOf = (merges: Merge[]) =>
  sql`unnest(${merges.map(({ from_id }) => from_id)}::bigint[], ${merges.map(({ into_id }) => into_id)}::bigint[]) as p(from_id, into_id)`

/**
 * One cause that several of the merged had is one message: the one furthest on stays as it is, the others, when they
 * wait, are skipped. Of several that wait, the survivor's own comes first.
 */
export const skipDuplicates = (ctx: InTx, merges: Merge[]) =>
  ctx.db.run(
    sql`with people as (
          select p.from_id as user_id, p.into_id from ${pairsOf(merges)}
          union
          select p.into_id, p.into_id from ${pairsOf(merges)}
        ), ranked as (
          select m.id, row_number() over (partition by people.into_id, m.cause
                                          order by ${isWaiting(sql`m.`)}, m.user_id <> people.into_id, m.id) as rank
          from people
          join messages m on m.user_id = people.user_id and m.project_id = ${ctx.projectId}
        )
        update messages m
        set state = 'skipped', reason = 'duplicate', event = null, settled_at = ${ctx.clock.now()}
        from ranked
        where m.id = ranked.id and m.project_id = ${ctx.projectId} and ranked.rank > 1 and ${isWaiting(sql`m.`)}`,
  )

/** Messages and captures follow their people into the survivors; of a cause that the survivor has already, the row stays. */
export const moveMessages = (ctx: InTx, merges: Merge[]) =>
  ctx.db.run(
    sql`with pairs as (
          select p.from_id, p.into_id from ${pairsOf(merges)}
        ), moving as (
          select distinct on (pairs.into_id, m.cause) m.id, pairs.into_id
          from pairs
          join messages m on m.user_id = pairs.from_id and m.project_id = ${ctx.projectId}
          where not exists (select 1 from messages own where own.project_id = ${ctx.projectId} and own.user_id = pairs.into_id and own.cause = m.cause)
          order by pairs.into_id, m.cause, m.reason = 'duplicate' nulls first, m.id
        ), captures as (
          update sandbox_messages c set user_id = pairs.into_id from pairs where c.user_id = pairs.from_id and c.project_id = ${ctx.projectId}
        )
        update messages m set user_id = moving.into_id from moving where m.id = moving.id and m.project_id = ${ctx.projectId}`,
  )

const DeliveryRow = Type.Object({
  campaign_id: IdOf<CampaignId>(),
  sent: Type.Integer(),
  total: Type.Integer(),
  bounced: Type.Integer(),
})

/** How many messages campaigns have, were handed over, came back; campaigns without messages have no row. */
export const countMessages = (ctx: ProjectCtx, ids: CampaignId[]) =>
  ctx.db.all(
    DeliveryRow,
    sql`select campaign_id,
               count(*) filter (where state in ('sent', 'delivered', 'bounced', 'complained')) as sent,
               count(*) as total,
               count(*) filter (where state = 'bounced') as bounced
        from messages
        where project_id = ${ctx.projectId} and campaign_id = any(${ids}::bigint[])
        group by campaign_id`,
  )

const columns = sql`id, channel, campaign_id, user_id, recipient, summary, created_at`

export const sandboxListing = listing({
  resource: 'sandbox-messages',
  sorts: {
    id: { column: sql`id`, type: 'bigint' },
    created_at: { column: sql`created_at`, type: 'timestamptz' },
  },
  defaultSort: 'id',
  defaultDirection: 'desc',
  search: [sql`recipient`, sql`summary`, sql`channel`],
  searchedFields: 'recipient, summary, channel',
})

export const listCaptures = (ctx: ProjectCtx, page: PageRequest): Promise<PageOf<CapturedRow>> =>
  pageOf(
    ctx.db,
    CapturedRow,
    sandboxListing,
    page,
    { select: columns, from: sql`sandbox_messages`, where: sql`project_id = ${ctx.projectId}` },
    ctx.config.LIST_ALL_MAX,
  )

export const findCapture = (ctx: ProjectCtx, id: MessageId) =>
  ctx.db.first(CapturedWholeRow, sql`select ${columns}, content from sandbox_messages where project_id = ${ctx.projectId} and id = ${id}`)

/** Empties the project's sandbox inbox. */
export const deleteCaptures = (ctx: ProjectCtx) => ctx.db.run(sql`delete from sandbox_messages where project_id = ${ctx.projectId}`)

const Depth = Type.Object({ waiting: Type.Integer(), oldest: Nullable(Instant) })

/** How many messages are due, over all projects, and since when the first of them is. */
export const queueDepth = (ctx: Ctx) =>
  ctx.db.first(
    Depth,
    sql`select count(*) as waiting, min(due_at) as oldest from messages where state in ('queued', 'deferred') and due_at <= ${ctx.clock.now()}`,
  )
