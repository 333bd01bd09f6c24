/** Asking people to confirm that they subscribed. */
import type { InTx } from '../../../infra/runtime/ctx.ts'
import type { QueuedUserChange } from '../../users/index.ts'
import { confirmUrl } from '../links.ts'
import type { SubscriptionPair } from '../schema.ts'
import * as queries from './queries.ts'

/** Who says yes again within this time is not asked again. */
const ASKED_AGAIN_AFTER_MS = 3_600_000

/**
 * Asks those of these people who have yet to confirm. The event carries the link; a campaign that it triggers sends it.
 * Answers what the log is to be told.
 */
export async function requestConfirmations(ctx: InTx, pairs: SubscriptionPair[]): Promise<QueuedUserChange[]> {
  if (pairs.length === 0) return []
  const now = ctx.clock.now()
  const asked = await queries.insertConfirmations(ctx, pairs, new Date(now.getTime() - ASKED_AGAIN_AFTER_MS))
  return asked.map(({ id, user_id, subscription_id }) => ({
    user_id,
    what: [],
    event: {
      name: 'subscription_confirmation_requested',
      data: { subscription_id, confirm_url: confirmUrl(ctx, ctx.projectId, id) },
      created_at: now.toISOString(),
    },
  }))
}
