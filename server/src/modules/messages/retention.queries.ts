import { type Static, Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { CampaignId, MessageId, UserId } from '../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../lib/shapes.ts'
import { PENDING_STATES } from './schema.ts'

const OldMessage = Type.Object({
  id: IdOf<MessageId>(),
  user_id: IdOf<UserId>(),
  campaign_id: IdOf<CampaignId>(),
  entrance_id: Nullable(Type.Integer()),
  created_at: Instant,
  /** When the last thing happened to it; null while something can. */
  ended_at: Nullable(Instant),
})
export type OldMessage = Static<typeof OldMessage>

/** The next messages after an id. */
export const nextMessages = (ctx: InTx, after: number, limit: number) =>
  ctx.db.many(
    OldMessage,
    sql`select id, user_id, campaign_id, entrance_id, created_at,
               case when not state = any(${PENDING_STATES}::text[]) then greatest(created_at, settled_at, acted_at, opened_at, clicked_at) end as ended_at
        from messages
        where project_id = ${ctx.projectId} and id > ${after}
        order by id
        limit ${limit}`,
  )

const IdRow = Type.Object({ id: IdOf<MessageId>() })

/** Deletes messages, except for those that are being changed. Counts stay as they are. */
export const deleteMessages = (ctx: InTx, ids: MessageId[]) =>
  ctx.db.many(
    IdRow,
    sql`delete from messages
        where project_id = ${ctx.projectId} and id = any(array(
          select id from messages
          where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) and not state = any(${PENDING_STATES}::text[])
          order by id
          for update skip locked))
        returning id`,
  )

/** Deletes the states that these messages left. */
export const deleteStates = (ctx: InTx, ids: MessageId[]) =>
  ctx.db.run(sql`delete from message_states where project_id = ${ctx.projectId} and message_id = any(${ids}::bigint[])`)

/** Deletes the files of these messages. */
export const deleteFiles = (ctx: InTx, ids: MessageId[]) =>
  ctx.db.run(sql`delete from message_attachments where project_id = ${ctx.projectId} and message_id = any(${ids}::bigint[])`)

const OldRequest = Type.Object({ content_id: Nullable(IdOf<number>()) })

/** Deletes the requests of these messages. Returns their content. */
export const deleteRequestsOf = (ctx: InTx, ids: MessageId[]) =>
  ctx.db.many(
    OldRequest,
    sql`delete from message_requests where project_id = ${ctx.projectId} and message_id = any(${ids}::bigint[]) returning content_id`,
  )

const OldSandboxMessage = Type.Object({ id: IdOf<MessageId>() })

/** Deletes the oldest messages in the sandbox. Returns them. */
export const deleteFromSandbox = (ctx: InTx, before: Date, limit: number) =>
  ctx.db.many(
    OldSandboxMessage,
    sql`with old as materialized (
          select id from sandbox_messages
          where project_id = ${ctx.projectId} and created_at < ${before}
          order by created_at
          limit ${limit}
          for update skip locked
        )
        delete from sandbox_messages s using old
        where s.project_id = ${ctx.projectId} and s.id = old.id
        returning s.id`,
  )
