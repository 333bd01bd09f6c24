import { type Static, Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import { firstOfEach } from '../../../infra/postgres/first-of-each.ts'
import type { Ctx, InTx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, JourneyId, MessageId, ProjectId, ProviderId, UserId } from '../../../lib/ids.ts'
import { CHANNELS, IdOf, Instant, Nullable, OneOf } from '../../../lib/shapes.ts'
import { MESSAGE_STATES, type MessageState, type Reason } from '../schema.ts'

const ReportedMessage = Type.Object({
  id: IdOf<MessageId>(),
  user_id: IdOf<UserId>(),
  campaign_id: IdOf<CampaignId>(),
  channel: OneOf(CHANNELS),
  state: OneOf(MESSAGE_STATES),
  attempts: Type.Integer(),
  recipient: Nullable(Type.String()),
  copies: Nullable(Type.Array(Type.String())),
  provider: Nullable(Type.String()),
  provider_id: Nullable(IdOf<ProviderId>()),
  provider_message_id: Nullable(Type.String()),
  is_erased: Type.Boolean(),
  created_at: Instant,
  opened_at: Nullable(Instant),
  journey_id: Nullable(IdOf<JourneyId>()),
  entrance_id: Nullable(Type.Integer()),
  step: Nullable(Type.String()),
  uncertain_at: Nullable(Instant),
})
export type ReportedMessage = Static<typeof ReportedMessage>

const columns = sql`id, user_id, campaign_id, channel, state, attempts, recipient, copies, provider, provider_id, provider_message_id, is_erased, created_at, opened_at,
  journey_id, entrance_id, step, uncertain_at`

/** Locks the messages that a provider reports on, by our id or by the id that this provider gave. */
export const lockReported = (ctx: InTx, providerId: ProviderId, ids: MessageId[], references: string[]) =>
  ctx.db.many(
    ReportedMessage,
    sql`select ${columns} from messages
        where project_id = ${ctx.projectId}
          and id = any(array(
                select id from messages where project_id = ${ctx.projectId} and id = any(${ids}::bigint[])
                union
                select id from messages
                where project_id = ${ctx.projectId} and provider_message_id = any(${references}::text[]) and provider_id = ${providerId}))
        order by id
        for update`,
  )

const AddressedMessage = Type.Object({
  campaign_id: IdOf<CampaignId>(),
  recipient: Nullable(Type.String()),
  copies: Nullable(Type.Array(Type.String())),
})

/** Whom a message went to. */
export const findAddressed = (ctx: InTx, id: MessageId) =>
  ctx.db.first(
    AddressedMessage,
    sql`select campaign_id, recipient, copies from messages where project_id = ${ctx.projectId} and id = ${id}`,
  )

/** Locks messages that were opened or clicked. */
export const lockMessages = (ctx: InTx, ids: MessageId[]) =>
  ctx.db.many(
    ReportedMessage,
    sql`select ${columns} from messages where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) order by id for update`,
  )

/** `reference`: the id at the provider, which tells later reports from those about a message of another server. */
export type ReportedState = { id: MessageId; state: MessageState; reason: Reason | null; detail: string | null; reference?: string | null }

/**
 * Saves states by delivery reports. The lease of one that is still being sent stays, so that its sender can add what it sent; no lease is
 * renewed or released but that of a claimed message. Without the list of ids, all messages might be read.
 */
export const saveReported = (ctx: InTx, messages: ReportedState[]) =>
  ctx.db.run(
    sql`update messages m
        set state = r.state, acted_at = ${ctx.clock.now()}, reason = r.reason, detail = case when not m.is_erased then r.detail end,
            provider_message_id = coalesce(m.provider_message_id, r.reference), settled_at = coalesce(m.settled_at, ${ctx.clock.now()})
        from jsonb_to_recordset(${JSON.stringify(messages)}::jsonb) as r(id bigint, state text, reason text, detail text, reference text)
        where m.project_id = ${ctx.projectId} and m.id = any(${messages.map(({ id }) => id)}::bigint[]) and m.id = r.id`,
  )

/** When a message was first opened, and first clicked, and whether that shows that it was delivered. */
export type FirstEngagement = { id: MessageId; opened_at: Date | null; clicked_at: Date | null; is_confirmed: boolean }

export const saveEngagement = (ctx: InTx, first: FirstEngagement[]) =>
  ctx.db.run(
    sql`update messages m
        set opened_at = coalesce(m.opened_at, s.opened_at), clicked_at = coalesce(m.clicked_at, s.clicked_at),
            state = case when s.is_confirmed then 'delivered' else m.state end,
            acted_at = case when s.is_confirmed then ${ctx.clock.now()} else m.acted_at end,
            reason = case when s.is_confirmed then null else m.reason end,
            settled_at = case when s.is_confirmed then coalesce(m.settled_at, ${ctx.clock.now()}) else m.settled_at end
        from jsonb_to_recordset(${JSON.stringify(first)}::jsonb) as s(id bigint, opened_at timestamptz, clicked_at timestamptz, is_confirmed boolean)
        where m.project_id = ${ctx.projectId} and m.id = s.id`,
  )

const WithMessageId = Type.Object({
  project_id: IdOf<ProjectId>(),
  id: IdOf<MessageId>(),
  created_at: Instant,
  provider_message_id: Type.String(),
})

/** The message with one of these Message-IDs, of any project. */
export const findByMessageId = (ctx: Ctx, messageIds: string[]) =>
  ctx.db.first(
    WithMessageId,
    sql`with recursive ${firstOfEach('sending', { table: sql`messages`, keys: ['project_id'], where: sql`provider_message_id is not null` })}
        select m.project_id, m.id, m.created_at, m.provider_message_id
        from sending s
        cross join lateral (
          select project_id, id, created_at, provider_message_id from messages
          where project_id = s.project_id and provider_message_id = any(${messageIds}::text[])
          limit 1
        ) m
        limit 1`,
  )
