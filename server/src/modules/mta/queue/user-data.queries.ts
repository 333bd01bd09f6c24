/**
 * Email of users: that of their messages, what applications submitted to their addresses, and copies of the messages of other users. Addresses are
 * given in lower case.
 */
import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { MessageId } from '../../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../../lib/shapes.ts'

const PAGE_ROWS = 500

const isTo = (addresses: string[]) => sql`r.address <> '' and lower(r.address collate "C") = any(${addresses}::text[])`

// One index for each of the two.
const isSubmittedTo = (addresses: string[]) => sql`r.campaign_id is null and ${isTo(addresses)}`
const isCopyTo = (addresses: string[]) => sql`r.campaign_id is not null and r.no > 0 and ${isTo(addresses)}`

const MailId = Type.Object({ id: IdOf<MessageId>() })

/** The emails that were submitted to these addresses, or sent to them as copies, until then. */
export const mailsTo = (ctx: InTx, addresses: string[], until: Date) =>
  ctx.db.many(
    MailId,
    sql`select m.id from mail_messages m
        where m.project_id = ${ctx.projectId} and m.source <> 'report' and m.created_at <= ${until}
          and m.id = any(array(
                select r.mail_id from mail_recipients r where r.project_id = ${ctx.projectId} and ${isSubmittedTo(addresses)}
                union
                select r.mail_id from mail_recipients r where r.project_id = ${ctx.projectId} and ${isCopyTo(addresses)}))`,
  )

/** Removes the recipients with these addresses from emails, and cancels delivery to those who are waiting. */
export const eraseRecipients = (ctx: InTx, ids: MessageId[], addresses: string[]) =>
  ctx.db.run(
    sql`update mail_recipients r
        set address = '', original_recipient = null, history = '[]', is_held = false,
            finished_at = case when r.state = 'queued' then ${ctx.clock.now()}::timestamptz else r.finished_at end,
            state = case when r.state = 'queued' then 'cancelled' else r.state end
        where r.project_id = ${ctx.projectId} and r.mail_id = any(${ids}::bigint[]) and (${isSubmittedTo(addresses)} or ${isCopyTo(addresses)})`,
  )

const ExportedMail = Type.Object({
  message_id: IdOf<MessageId>(),
  no: Type.Integer(),
  recipient: Type.String(),
  from: Type.String(),
  state: Type.String(),
  attempts: Type.Unsafe<unknown[]>({ type: 'array' }),
  created_at: Instant,
  finished_at: Nullable(Instant),
})

type After = { message_id: number; no: number }

const pageOf = (ctx: ProjectCtx, ids: MessageId[], addresses: string[], after: After) =>
  ctx.db.many(
    ExportedMail,
    sql`select r.mail_id as message_id, r.no, r.address as recipient, m.mail_from as "from", r.state, r.history as attempts, r.created_at, r.finished_at
        from mail_recipients r
        join mail_messages m on m.project_id = r.project_id and m.id = r.mail_id
        where r.project_id = ${ctx.projectId} and (r.mail_id, r.no) > (${after.message_id}, ${after.no})
          and (r.no = 0 and r.mail_id = any(${ids}::bigint[]) or ${isSubmittedTo(addresses)} and m.source = 'submission' or ${isCopyTo(addresses)})
        order by r.mail_id, r.no limit ${PAGE_ROWS}`,
  )

/** The emails of these messages and to these addresses, with their attempts, page by page. */
export async function* exportMail(ctx: ProjectCtx, ids: MessageId[], addresses: string[]) {
  let after: After | undefined = { message_id: 0, no: 0 }
  while (after) {
    const rows: Awaited<ReturnType<typeof pageOf>> = await pageOf(ctx, ids, addresses, after)
    if (rows.length > 0) yield rows.map(({ no: _, ...row }) => row)
    after = rows.length < PAGE_ROWS ? undefined : rows.at(-1)
  }
}
