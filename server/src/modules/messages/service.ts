import type { InTx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { eraseInbox, mergeInbox } from '../inbox/index.ts'
import type { UserMerge } from '../users/index.ts'
import { emit, webhookEvents } from '../webhook-events/index.ts'
import * as ledger from './messages.queries.ts'
import { eraseCaptures } from './sandbox/queries.ts'
import { type MessageIntent, TRANSACTIONAL } from './schema.ts'

/** Writes down what people are to get, each cause once; sending follows after the commit. */
export async function enqueueMessages(ctx: InTx, intents: MessageIntent[]): Promise<void> {
  const written = await ledger.insertMessages(ctx, TRANSACTIONAL, intents)
  await emit(ctx, () =>
    written.map(({ id, campaign_id, channel, bytes }) =>
      webhookEvents.queueMessageAuthenticated.of({ message_id: id, campaign_id, channel, size: bytes }),
    ),
  )
}

/** What was meant for people who turned out to be one goes to the survivor, each cause once. */
export async function mergeMessages(ctx: InTx, merges: UserMerge[]): Promise<void> {
  await ledger.skipDuplicates(ctx, merges)
  await ledger.moveMessages(ctx, merges)
  await mergeInbox(ctx, merges)
}

/** Removes what messages said to these people. That there were some, and what became of them, stays without anything personal. */
export async function eraseMessages(ctx: InTx, userIds: UserId[]): Promise<void> {
  await ledger.eraseMessages(ctx, userIds)
  await eraseCaptures(ctx, userIds)
  await eraseInbox(ctx, userIds)
}
