import type { InTx } from '../../../infra/runtime/ctx.ts'
import { completeMails, lockMails } from './queries.ts'
import { eraseRecipients, submittedTo } from './user-data.queries.ts'

/** Removes the owners of these addresses, in lower case, from submitted email. Its content is deleted once no other recipient waits. */
export async function eraseSubmittedMail(ctx: InTx, addresses: string[]): Promise<void> {
  const ids = (await submittedTo(ctx, addresses)).map(({ id }) => id)
  if (ids.length === 0) return
  await lockMails(ctx, ids)
  await eraseRecipients(ctx, ids, addresses)
  await completeMails(ctx, ids)
}
