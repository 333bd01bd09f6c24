/** Send attempt records: which messages may have been sent if their sender dies. */
import { type Static, Type } from 'typebox'
import { fence, sql } from '../../../infra/postgres/db.ts'
import { callRows, type JointCall, jointMany } from '../../../infra/postgres/joint.ts'
import type { Ctx, InTx } from '../../../infra/runtime/ctx.ts'
import { leaseNow } from '../../../infra/runtime/lease-time.ts'
import type { MessageId, ProviderId } from '../../../lib/ids.ts'
import { IdOf } from '../../../lib/shapes.ts'
import { DAY_MS } from '../../../lib/times.ts'

/**
 * The messages that are about to be given to a provider, and which of them count towards caps. If the sender dies now, they may have been
 * sent.
 */
export type SendAttempts = {
  lease_token: string
  message_ids: MessageId[]
  counted: boolean[]
  provider: string
  provider_id: ProviderId | null
}

const AttemptsRow = Type.Object({ id: Type.Integer(), message_ids: Type.Array(IdOf<MessageId>()) })
export type SavedAttempts = Static<typeof AttemptsRow>

/**
 * Saves a send attempt record with those of the messages that this sender still has the lease of. They are locked until the record is committed, so
 * that nobody can release them before it is seen. Undefined if none is left.
 */
export const insertSendAttempts = async (ctx: InTx, attempts: SendAttempts): Promise<SavedAttempts | undefined> =>
  (await insertAttempts(ctx, ctx.projectId, attempts))[0]

const insertAttempts = jointMany(
  AttemptsRow,
  (ctx, calls: JointCall<SendAttempts>[]) =>
    sql`with q as materialized (
          select *
          from ${callRows(calls, sql`lease_token uuid, message_ids bigint[], counted boolean[], provider text, provider_id bigint`, (attempts) => attempts)}
        ), held as materialized (
          select h.call, h.id, h.is_counted
          from (
            select q.call, q.project_id, q.lease_token, a.id, a.is_counted
            from q
            cross join lateral unnest(q.message_ids, q.counted) as a(id, is_counted)
            -- As a renewal locks them.
            order by q.project_id, a.id
          ) h
          cross join lateral (
            select state, lease_token, lease_until from messages where project_id = h.project_id and id = h.id ${fence} for share
          ) m
          where m.state = 'claimed' and m.lease_token = h.lease_token and m.lease_until > ${leaseNow(ctx)}
        ), begun as materialized (
          select q.call, q.project_id, q.lease_token, q.provider, q.provider_id, h.message_ids, h.counted,
                 nextval(pg_get_serial_sequence('send_attempts', 'id')) as id
          from q
          join (select call, array_agg(id) as message_ids, array_agg(is_counted) as counted from held group by call) h using (call)
        ), inserted as (
          insert into send_attempts (id, project_id, lease_token, message_ids, counted, provider, provider_id, created_at) overriding system value
          select id, project_id, lease_token, message_ids, counted, provider, provider_id, ${ctx.clock.now()} from begun
        )
        select call, id, message_ids from begun`,
)

/** Saves the hashes of the addresses that get copies, of messages that are locked. */
export const saveCopies = (ctx: InTx, messages: { id: MessageId; copies: string[] }[]) =>
  ctx.db.run(
    sql`update messages m set copies = s.copies
        from jsonb_to_recordset(${JSON.stringify(messages)}::jsonb) as s(id bigint, copies text[])
        where m.project_id = ${ctx.projectId} and m.id = s.id and not m.is_erased`,
  )

const SEND_ATTEMPTS_KEPT_MS = DAY_MS

/** Deletes old send attempt records of dead senders, when none of their messages is claimed. */
export const purgeSendAttempts = (ctx: Ctx) =>
  ctx.db.run(
    sql`delete from send_attempts a
        where a.created_at < ${new Date(ctx.clock.now().getTime() - SEND_ATTEMPTS_KEPT_MS)}
          and not exists (select 1 from messages m
                          where m.id = any(a.message_ids) and m.project_id = a.project_id and m.lease_token = a.lease_token and m.state = 'claimed')`,
  )
