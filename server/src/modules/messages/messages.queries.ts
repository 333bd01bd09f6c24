import { type Static, Type } from 'typebox'
import { type Sql, sql } from '../../infra/postgres/db.ts'
import { joint } from '../../infra/postgres/joint.ts'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { CampaignId, JourneyId, MessageId, ProjectId, UserId } from '../../lib/ids.ts'
import { CHANNELS, Count, IdOf, Nullable, OneOf } from '../../lib/shapes.ts'
import { idsToErase, type UserMerge } from '../users/index.ts'
import { MESSAGE_STATES, type MessageIntent, type Priority, type Reason } from './schema.ts'

const Enqueued = Type.Object({
  project_id: IdOf<ProjectId>(),
  id: IdOf<MessageId>(),
  campaign_id: IdOf<CampaignId>(),
  channel: OneOf(CHANNELS),
  journey_id: Nullable(IdOf<JourneyId>()),
  bytes: Type.Integer(),
})

type Enqueued = Static<typeof Enqueued>

/** Inserts one message for each intent, except for causes that have one. Returns those inserted, with the size of their events. */
export const insertMessages = (ctx: InTx, priority: Priority, intents: MessageIntent[]) =>
  insertAll(ctx, ctx.projectId, { priority, intents })

const MessageOfCause = Type.Object({ id: IdOf<MessageId>(), user_id: IdOf<UserId>(), cause: Type.String() })

/** The messages with these causes. */
export const findByCauses = (ctx: InTx, intents: Pick<MessageIntent, 'user_id' | 'cause'>[]) =>
  ctx.db.many(
    MessageOfCause,
    sql`select m.id, m.user_id, m.cause
        from unnest(${intents.map(({ user_id }) => user_id)}::bigint[], ${intents.map(({ cause }) => cause)}::text[]) as t(user_id, cause)
        join messages m on m.project_id = ${ctx.projectId} and m.user_id = t.user_id and m.cause = t.cause`,
  )

const insertAll = joint<{ priority: Priority; intents: MessageIntent[] }, Enqueued[]>(async (ctx, calls) => {
  const intents = calls.flatMap(({ projectId, input: { priority, intents } }) =>
    intents.map(({ journey, requestId: _, ...intent }) => ({ project_id: projectId, priority, ...intent, ...journey })),
  )
  const rows = await ctx.db.many(
    Enqueued,
    sql`insert into messages (project_id, user_id, campaign_id, channel, cause, event, priority, due_at, expires_at, created_at, journey_id,
                              entrance_id, visit, step_id, step)
        select i.project_id, i.user_id, i.campaign_id, i.channel, i.cause, i.event, i.priority, ${ctx.clock.now()}, i.expires_at, ${ctx.clock.now()},
               i.journey_id, i.entrance_id, i.visit, i.step_id, i.step
        from jsonb_to_recordset(${JSON.stringify(intents)}::jsonb)
             as i(project_id bigint, priority smallint, user_id bigint, campaign_id bigint, channel text, cause text, event jsonb,
                  expires_at timestamptz, journey_id bigint, entrance_id bigint, visit int, step_id bigint, step text)
        order by i.project_id, i.user_id, i.cause
        on conflict (project_id, user_id, cause) do nothing
        returning project_id, id, campaign_id, channel, journey_id, coalesce(octet_length(event::text), 0) as bytes`,
  )
  const byProject = Map.groupBy(rows, ({ project_id }) => project_id)
  // A project is in one transaction once, so that all of its rows belong to its one call.
  return calls.map(({ projectId }) => byProject.get(projectId) ?? [])
})

const isWaiting = (m: Sql) => sql`${m}state in ('queued', 'deferred')`

/** What a waiting message becomes that is not sent any more. If a provider may have it, it is not certain that it was not sent. */
const endedAs = ({ clock }: InTx, state: 'aborted' | 'skipped', reason: Reason) =>
  sql`state = case when m.uncertain_at is null then ${state} else 'unknown' end,
      reason = case when m.uncertain_at is null then ${reason} else 'uncertain' end,
      event = case when m.uncertain_at is not null then m.event end, acted_at = ${clock.now()}, settled_at = ${clock.now()}`

/** The result of a chunk: how many messages were changed, and the last of them, after which the next chunk starts. */
const Chunk = Type.Object({ changed: Type.Integer(), last: Nullable(IdOf<MessageId>()) })

/** What happened to a chunk: how many messages were changed, and up to which; the next one begins after that. */
export type Chunk = Static<typeof Chunk>

/** Where the next chunk of a campaign’s messages starts, and how large it is. */
export type IdRange = { after: MessageId | null; limit: number }

/**
 * Changes a chunk of the waiting messages of a campaign, in order. A message that is being claimed is waited for, and is not waiting any
 * more then.
 */
const changeWaiting = async (ctx: InTx, campaignId: CampaignId, { after, limit }: IdRange, condition: Sql, change: Sql): Promise<Chunk> => {
  const row = await ctx.db.first(
    Chunk,
    sql`with chunk as materialized (
          select id from messages
          where project_id = ${ctx.projectId} and campaign_id = ${campaignId} and id > ${after ?? 0} and ${isWaiting(sql``)} and ${condition}
          order by id
          limit ${limit}
          for update
        ), changed as (
          update messages m set ${change} from chunk where m.id = chunk.id and m.project_id = ${ctx.projectId} returning m.id
        )
        select count(*) as changed, max(id) as last from changed`,
  )
  return row ?? { changed: 0, last: null }
}

/** Aborts a chunk of the unsent messages of a campaign. Claimed messages are refused by their sender. */
export const abortMessages = (ctx: InTx, campaignId: CampaignId, reason: 'campaign_stopped' | 'rescheduled', range: IdRange) =>
  changeWaiting(ctx, campaignId, range, sql`true`, endedAs(ctx, 'aborted', reason))

/** Takes a chunk of a paused campaign’s messages out of the queue. */
export const holdMessages = (ctx: InTx, campaignId: CampaignId, range: IdRange) =>
  changeWaiting(ctx, campaignId, range, sql`not is_held`, sql`is_held = true`)

/** Returns a chunk of held messages to the queue, due as before. */
export const releaseMessages = (ctx: InTx, campaignId: CampaignId, range: IdRange) =>
  changeWaiting(ctx, campaignId, range, sql`is_held`, sql`is_held = false`)

/** The number of messages of a campaign that senders are giving to providers right now. A record of a sender that died is of its own lease. */
export const countAttempted = (ctx: ProjectCtx | InTx, campaignId: CampaignId): Promise<number> =>
  ctx.db.value(
    Count,
    sql`select count(*) as count
          from send_attempts a
          cross join lateral unnest(a.message_ids) as attempted(id)
          join messages m on m.id = attempted.id and m.project_id = a.project_id and m.lease_token = a.lease_token
          where a.project_id = ${ctx.projectId} and m.campaign_id = ${campaignId} and m.state = 'claimed'`,
  )

/**
 * Reasons for which a user got nothing that say nothing about a merged user: the sender looks at them again for the user who remains. It does
 * not for the exclusion lists of a blast and for the hold-out, so that these stay.
 */
export const CHECKED_AGAIN: readonly Reason[] = [
  'no_address',
  'no_push_device',
  'not_subscribed',
  'not_confirmed',
  'suppressed',
  'duplicate_address',
]

/** Whether a message was skipped for one of these reasons. */
export const isSkippedFor = (m: Sql, reasons: readonly Reason[]) =>
  sql`(${m}state = 'skipped' and coalesce(${m}reason = any(${reasons}::text[]), false))`

/** Deletes personal data from the messages of these users, and skips the waiting ones. The rows stay locked. */
export const eraseMessages = (ctx: InTx, userIds: UserId[]) =>
  ctx.db.run(
    sql`update messages m
        set state = case when not ${isWaiting(sql`m.`)} then m.state when m.uncertain_at is null then 'skipped' else 'unknown' end,
            acted_at = case when ${isWaiting(sql`m.`)} then ${ctx.clock.now()} else m.acted_at end,
            reason = case when not ${isWaiting(sql`m.`)} then m.reason when m.uncertain_at is null then 'user_gone' else 'uncertain' end,
            settled_at = case when ${isWaiting(sql`m.`)} then ${ctx.clock.now()} else m.settled_at end,
            is_erased = true, event = null, detail = null, recipient = null, copies = null
        where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[])`,
  )

const MailId = Type.Object({ id: IdOf<MessageId>() })

/** The messages of these users that this server may have tried to deliver itself, whichever provider sent them in the end. */
export const mailsOf = async (ctx: InTx | ProjectCtx, userIds: UserId[]): Promise<MessageId[]> => {
  const rows = await ctx.db.many(
    MailId,
    sql`select id from messages where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[]) and channel = 'email' order by id`,
  )
  return rows.map(({ id }) => id)
}

const UserOfMessage = Type.Object({ id: IdOf<MessageId>(), user_id: IdOf<UserId>() })

/** The users of messages. */
export const usersOf = (ctx: ProjectCtx, ids: MessageId[]) =>
  ctx.db.many(UserOfMessage, sql`select id, user_id from messages where project_id = ${ctx.projectId} and id = any(${ids}::bigint[])`)

/** Deletes the states that messages of these users have left: their details may contain an address. */
export const eraseStates = (ctx: InTx, userIds: UserId[]) =>
  ctx.db.run(
    sql`delete from message_states s using messages m
        where m.project_id = ${ctx.projectId} and m.user_id = any(${userIds}::bigint[]) and s.project_id = m.project_id and s.message_id = m.id`,
  )

export const pairsOf = (merges: UserMerge[]) =>
  sql`unnest(${merges.map(({ from_id }) => from_id)}::bigint[], ${merges.map(({ into_id }) => into_id)}::bigint[]) as p(from_id, into_id)`

/**
 * Merged users get one message for a cause: the one with the most progress stays, and the waiting others are skipped. Of several waiting
 * ones, one that a provider may have comes first, and then that of the remaining user. A message that was skipped for a reason that is checked again
 * replaces no other.
 */
export const skipDuplicates = (ctx: InTx, merges: UserMerge[]) =>
  ctx.db.run(
    sql`with merged_users as (
          select p.from_id as user_id, p.into_id from ${pairsOf(merges)}
          union
          select p.into_id, p.into_id from ${pairsOf(merges)}
        ), ranked as (
          select m.id, row_number() over (partition by merged_users.into_id, m.cause
                                          order by ${isSkippedFor(sql`m.`, CHECKED_AGAIN)}, ${isWaiting(sql`m.`)},
                                                   ${isWaiting(sql`m.`)} and m.uncertain_at is null, m.user_id <> merged_users.into_id, m.id) as rank
          from merged_users
          join messages m on m.user_id = merged_users.user_id and m.project_id = ${ctx.projectId}
        )
        update messages m
        set ${endedAs(ctx, 'skipped', 'duplicate')}
        from ranked
        where m.id = ranked.id and m.project_id = ${ctx.projectId} and ranked.rank > 1 and ${isWaiting(sql`m.`)}`,
  )

/**
 * Moves messages and sandbox messages to the users that theirs were merged into. When both have a message for a cause, the row is not
 * moved.
 */
export const moveMessages = (ctx: InTx, merges: UserMerge[]) =>
  ctx.db.run(
    sql`with pairs as (
          select p.from_id, p.into_id from ${pairsOf(merges)}
        ), moving as (
          select distinct on (pairs.into_id, m.cause) m.id, pairs.into_id
          from pairs
          join messages m on m.user_id = pairs.from_id and m.project_id = ${ctx.projectId}
          where not exists (select 1 from messages own where own.project_id = ${ctx.projectId} and own.user_id = pairs.into_id and own.cause = m.cause)
          order by pairs.into_id, m.cause, m.reason = 'duplicate' nulls first, m.id
        ), moved_sandbox_messages as (
          update sandbox_messages c set user_id = pairs.into_id from pairs where c.user_id = pairs.from_id and c.project_id = ${ctx.projectId}
        )
        update messages m set user_id = moving.into_id from moving where m.id = moving.id and m.project_id = ${ctx.projectId}`,
  )

const StateRow = Type.Object({
  user_id: IdOf<UserId>(),
  cause: Type.String(),
  state: OneOf(MESSAGE_STATES),
  reason: Nullable(Type.String()),
})

/** The states of the messages of these causes. */
export const statesByCause = (ctx: InTx, pairs: { user_id: UserId; cause: string }[]) =>
  ctx.db.many(
    StateRow,
    sql`select m.user_id, m.cause, m.state, m.reason
        from unnest(${pairs.map(({ user_id }) => user_id)}::bigint[], ${pairs.map(({ cause }) => cause)}::text[]) as p(user_id, cause)
        join messages m on m.project_id = ${ctx.projectId} and m.user_id = p.user_id and m.cause = p.cause`,
  )

/** Aborts the messages of these causes that wait, because their users left the journey. One that is claimed may still be sent. */
export const abortJourneyMessages = (ctx: InTx, pairs: { user_id: UserId; cause: string }[]) =>
  ctx.db.run(
    sql`update messages m
        set ${endedAs(ctx, 'aborted', 'journey_left')}
        from unnest(${pairs.map(({ user_id }) => user_id)}::bigint[], ${pairs.map(({ cause }) => cause)}::text[]) as p(user_id, cause)
        where m.project_id = ${ctx.projectId} and m.user_id = p.user_id and m.cause = p.cause and ${isWaiting(sql`m.`)}`,
  )

/** Skips the messages of these causes that wait, because another message of the user replaces them. */
export const skipJourneyMessages = (ctx: InTx, pairs: { user_id: UserId; cause: string }[]) =>
  ctx.db.run(
    sql`update messages m
        set ${endedAs(ctx, 'skipped', 'duplicate')}
        from unnest(${pairs.map(({ user_id }) => user_id)}::bigint[], ${pairs.map(({ cause }) => cause)}::text[]) as p(user_id, cause)
        where m.project_id = ${ctx.projectId} and m.user_id = p.user_id and m.cause = p.cause and ${isWaiting(sql`m.`)}`,
  )

/** An id that no message has, for messages without a row: test sends and replies to keywords. */
export const newMessageId = (ctx: ProjectCtx | InTx): Promise<MessageId> =>
  ctx.db.value(IdOf<MessageId>(), sql`select nextval(pg_get_serial_sequence('messages', 'id'))`)

/** For conditions of other modules: whether the message with this id is to a user who is being erased. One look into a key for each row. */
export const isOfErased = (ctx: ProjectCtx, id: Sql): Sql =>
  sql`(select addressed.user_id in ${idsToErase(ctx)} from messages addressed where addressed.project_id = ${ctx.projectId} and addressed.id = ${id}) is true`
