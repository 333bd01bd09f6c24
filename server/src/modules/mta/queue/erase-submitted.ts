import type { InTx } from '../../../infra/runtime/ctx.ts'
import { completeMails, lockMails } from './queries.ts'
import { eraseRecipients, mailsTo } from './user-data.queries.ts'

/**
 * Removes the recipients with these addresses, in lower case, from email that was submitted until then, and from messages of other users that went
 * to them as copies. The content of an email is deleted if no other recipient is waiting.
 */
export async function eraseSubmittedMail(ctx: InTx, addresses: string[], until: Date): Promise<void> {
  const ids = (await mailsTo(ctx, addresses, until)).map(({ id }) => id)
  if (ids.length === 0) return
  await lockMails(ctx, ids)
  await eraseRecipients(ctx, ids, addresses)
  await completeMails(ctx, ids)
}
