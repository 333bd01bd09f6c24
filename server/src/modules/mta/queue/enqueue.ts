import type { InTx } from '../../../infra/runtime/ctx.ts'
import { insertMails, insertRecipients } from './queries.ts'
import { DELIVER_JOBS, type NewMail } from './schema.ts'

/** Adds emails to the queue (D-MTA-1). They are delivered after the commit. */
export async function enqueueMail(ctx: InTx, mails: NewMail[]): Promise<void> {
  if (mails.length === 0) return
  await insertMails(ctx, mails)
  await insertRecipients(ctx, mails)
  for (const priority of new Set(mails.map(({ priority }) => priority))) ctx.wake(DELIVER_JOBS[priority])
}
