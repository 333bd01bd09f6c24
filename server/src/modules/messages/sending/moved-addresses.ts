import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { addressOf } from '../../../lib/channels.ts'
import type { MessageId } from '../../../lib/ids.ts'
import { MINUTE_MS } from '../../../lib/times.ts'
import type { UserRow } from '../../users/index.ts'
import { secondCopies } from '../addresses.ts'
import type { ClaimedMessage } from '../schema.ts'

/** Transactions that were under way when an audience was read committed within this time. */
const MARGIN_MS = 5 * MINUTE_MS

/**
 * Messages of blasts whose users got, after the audience was loaded, an address that another user of the blast has. Only users who changed
 * since are looked up.
 */
export async function findSecondCopies(
  ctx: ProjectCtx,
  messages: { message: ClaimedMessage; user: UserRow }[],
): Promise<ReadonlySet<MessageId>> {
  const changed = messages.flatMap(({ message, user }) => {
    const address = addressOf(message.channel, user)
    const isOfBlast = message.cause === `campaign:${message.campaign_id}`
    const isChanged = user.updated_at.getTime() > message.created_at.getTime() - MARGIN_MS
    return address !== null && isOfBlast && isChanged ? [{ message, user_id: user.id, address }] : []
  })
  const second = new Set<MessageId>()
  for (const [cause, some] of Map.groupBy(changed, ({ message }) => message.cause)) {
    const { campaign_id, channel } = (some[0] as (typeof some)[number]).message
    const users = await secondCopies(ctx, { campaign_id, channel, cause }, some, { mostHold: true })
    for (const { message, user_id } of some) if (users.has(user_id)) second.add(message.id)
  }
  return second
}
