/** Changing where people stand: the state, the entry in the ledger, and what follows from it, in one transaction. */

import { Conflict } from '../../infra/postgres/db.ts'
import { type InTx, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { SubscriptionId, UserId } from '../../lib/ids.ts'
import type { Channel } from '../../lib/shapes.ts'
import { appendUserChanges, findMergedInto, type UserRow } from '../users/index.ts'
import { requestConfirmations } from './confirmations/request.ts'
import { queuedChangesOf } from './consent.ts'
import * as consents from './consents/queries.ts'
import type { Evidence, SavedStateChange, StateChange } from './consents/schema.ts'
import * as queries from './queries.ts'
import { addressesOf, liftUnsubscribed } from './suppressions/service.ts'

/** Whom an id means now, kept from being merged away or erased until the transaction ends; undefined when they are gone. */
export async function lockUser(ctx: InTx, id: UserId): Promise<UserId | undefined> {
  const [mergedInto] = await findMergedInto(ctx, ctx.projectId, [id])
  if (!mergedInto) return undefined
  const [held] = await queries.lockUsers(ctx, [mergedInto.merged_into])
  if (!held?.is_there) throw new Conflict('The person was merged or erased in between.')
  return held.id
}

/** `keepsConfirmed`: a yes does not take back a yes that was confirmed. It is said by people themselves, who mean no less by it. */
export type Writing = { keepsConfirmed: boolean }

/**
 * Writes states of people who are held. Each pair at most once. Those who say yes to a type that wants it confirmed are asked to,
 * also when they have said so before.
 */
export async function writeStates(
  ctx: InTx,
  changes: StateChange[],
  evidence: Evidence,
  { keepsConfirmed }: Writing = { keepsConfirmed: false },
): Promise<SavedStateChange[]> {
  if (changes.length === 0) return []
  const written = await consents.saveStates(ctx, changes, evidence, keepsConfirmed)
  const requests = await requestConfirmations(
    ctx,
    changes.filter(({ state }) => state === 1),
  )
  await appendUserChanges(ctx, [...queuedChangesOf(written, evidence.source, ctx.clock.now()), ...requests])
  return written
}

/**
 * Somebody who had unsubscribed from everything subscribes again to something of these channels: their addresses on them get
 * messages again.
 */
export async function liftOptOuts(ctx: InTx, user: Pick<UserRow, 'email' | 'phone'>, channels: ReadonlySet<Channel>): Promise<void> {
  await liftUnsubscribed(
    ctx,
    addressesOf(user).filter(({ channel }) => channels.has(channel)),
  )
}

/**
 * Subscribes people to these types, but only where nothing is stored: who said yes or no has said so.
 * `source` is where they agreed to it. The people are held.
 */
export async function subscribeNew(ctx: InTx, userIds: UserId[], subscriptionIds: SubscriptionId[], source: string): Promise<void> {
  const written = await consents.insertSubscribed(ctx, userIds, subscriptionIds, { source: 'import', wording: source })
  const requests = await requestConfirmations(
    ctx,
    written.filter(({ requires_confirmation }) => requires_confirmation),
  )
  await appendUserChanges(ctx, [...queuedChangesOf(written, 'import', ctx.clock.now()), ...requests])
}

/** Who unsubscribes from what, and what shows it. */
export type Unsubscription = { userId: UserId; subscriptionId: SubscriptionId } & Evidence

/** Unsubscribes a person, or whoever that turned out to be, from one type. Somebody who is gone stays so. */
export const unsubscribeBy = (ctx: ProjectCtx, { userId, subscriptionId, ...evidence }: Unsubscription): Promise<void> =>
  inTx(ctx, async (ctx) => {
    const user_id = await lockUser(ctx, userId)
    if (user_id === undefined) return
    const known = await queries.knownSubscriptions(ctx, [subscriptionId], false)
    await writeStates(
      ctx,
      known.map(({ id }) => ({ user_id, subscription_id: id, state: 0 })),
      evidence,
    )
  })
