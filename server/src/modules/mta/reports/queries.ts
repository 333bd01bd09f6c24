import { type Static, Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { InTx } from '../../../infra/runtime/ctx.ts'
import { Nullable, OneOf } from '../../../lib/shapes.ts'
import { MAIL_SOURCES, type PastAttempt } from '../queue/schema.ts'
import type { ReturnPath } from '../return-path.ts'

const ReportedRecipient = Type.Object({
  no: Type.Integer(),
  address: Type.String(),
  domain: Type.String(),
  site: Nullable(Type.String()),
  attempts: Type.Integer(),
  original_recipient: Nullable(Type.String()),
  source: OneOf(MAIL_SOURCES),
  mail_from: Type.String(),
  rfc_message_id: Nullable(Type.String()),
  envelope_id: Nullable(Type.String()),
})
export type ReportedRecipient = Static<typeof ReportedRecipient>

/**
 * Locks and returns the recipients that a return path may stand for: recipients of an email at one domain got it in one transaction, with
 * one return path.
 */
export const lockReportedRecipients = (ctx: InTx, { mail_id, recipient_no }: ReturnPath) =>
  ctx.db.many(
    ReportedRecipient,
    sql`select r.no, r.address, r.domain, r.site, r.attempts, r.original_recipient, m.source, m.mail_from, m.rfc_message_id, m.envelope_id
        from mail_recipients own
        join mail_recipients r on r.project_id = own.project_id and r.mail_id = own.mail_id and r.domain = own.domain
        join mail_messages m on m.project_id = own.project_id and m.id = own.mail_id
        where own.project_id = ${ctx.projectId} and own.mail_id = ${mail_id} and own.no = ${recipient_no}
        order by r.no
        for update of r`,
  )

const Bounced = Type.Object({ no: Type.Integer() })

/** Records that recipients of an email bounced. Returns those that it had been delivered to. */
export const saveBounces = (ctx: InTx, { mail_id }: ReturnPath, bounces: { no: number; past: PastAttempt }[]) =>
  ctx.db.many(
    Bounced,
    sql`update mail_recipients r
        set state = 'failed', history = r.history || b.past, finished_at = ${ctx.clock.now()}
        from unnest(${bounces.map(({ no }) => no)}::smallint[], ${bounces.map(({ past }) => JSON.stringify(past))}::jsonb[]) as b(no, past)
        where r.project_id = ${ctx.projectId} and r.mail_id = ${mail_id} and r.no = b.no and r.state = 'delivered'
        returning r.no`,
  )
