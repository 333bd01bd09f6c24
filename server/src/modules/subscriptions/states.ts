/** Changing subscription states: the state, its consent entry and the user changes are saved in one transaction. */

import { Conflict } from '../../infra/postgres/db.ts'
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { SubscriptionId, UserId } from '../../lib/ids.ts'
import { appendUserChanges, findMergedInto } from '../users/index.ts'
import { requestConfirmations } from './confirmations/request.ts'
import { queuedChangesOf } from './consent.ts'
import * as consents from './consents/queries.ts'
import type { Evidence, SavedStateChange, StateChange } from './consents/schema.ts'
import * as queries from './queries.ts'
import type { Consent } from './schema.ts'

/** Locks a user against being merged or erased until the transaction ends, and follows merges. Undefined for an erased user. */
export async function lockUser(ctx: InTx, id: UserId): Promise<UserId | undefined> {
  const [mergedInto] = await findMergedInto(ctx, ctx.projectId, [id])
  if (!mergedInto) return undefined
  const [held] = await queries.lockUsers(ctx, [mergedInto.merged_into])
  if (!held?.is_there) throw new Conflict('The user has since been merged or erased.')
  return held.id
}

/** `keepsConfirmed`: state 1 does not replace state 2. For users who subscribe themselves, because that is no opt-out. */
export type Writing = { keepsConfirmed: boolean }

/**
 * Saves states of locked users, each pair of user and type at most once. Requests a confirmation for each state 1 of a type that requires
 * one, also when the state was 1 before.
 */
export async function writeStates(
  ctx: InTx,
  changes: StateChange[],
  evidence: Evidence,
  { keepsConfirmed }: Writing = { keepsConfirmed: false },
): Promise<SavedStateChange[]> {
  if (changes.length === 0) return []
  const written = await saveAll(ctx, changes, evidence, keepsConfirmed)
  const requests = await requestConfirmations(
    ctx,
    changes.filter(({ state }) => state === 1),
  )
  await appendUserChanges(ctx, [...queuedChangesOf(written, evidence.source, ctx.clock.now()), ...requests])
  return written
}

/** Saves those that another transaction changed meanwhile with a second statement. They are locked by then. */
async function saveAll(ctx: InTx, changes: StateChange[], evidence: Evidence, keepsConfirmed: boolean): Promise<SavedStateChange[]> {
  const rows = await consents.saveStates(ctx, changes, evidence, keepsConfirmed)
  const saved = rows.flatMap(({ is_saved, ...change }) => (is_saved ? [change] : []))
  if (saved.length === rows.length) return saved
  const passed = new Set(rows.filter(({ is_saved }) => !is_saved).map(pairOf))
  const again = changes.filter((change) => passed.has(pairOf(change)))
  return [...saved, ...(await saveAll(ctx, again, evidence, keepsConfirmed))]
}

const pairOf = ({ user_id, subscription_id }: Pick<StateChange, 'user_id' | 'subscription_id'>) => `${user_id} ${subscription_id}`

/**
 * Subscribes locked users to these types where no state is stored, so that an import cannot reverse an opt-out. `wording` is where the
 * users agreed. Returns the states that were saved.
 */
export async function subscribeNew(
  ctx: InTx,
  userIds: UserId[],
  subscriptionIds: SubscriptionId[],
  evidence: Required<Pick<Evidence, 'wording' | 'proof'>>,
): Promise<SavedStateChange[]> {
  const written = await consents.insertSubscribed(ctx, userIds, subscriptionIds, { source: 'import', ...evidence })
  const requests = await requestConfirmations(
    ctx,
    written.filter(({ requires_confirmation }) => requires_confirmation),
  )
  await appendUserChanges(ctx, [...queuedChangesOf(written, 'import', ctx.clock.now()), ...requests])
  return written
}

/** A state that a step of a journey asks for. */
export type JourneyState = { user_id: UserId; subscription_id: SubscriptionId; state: 0 | 1; proof: Record<string, unknown> }

/**
 * Saves states for journeys. A user who unsubscribed stays so (`consent_kept`), and a confirmed user stays confirmed. Returns the result
 * of each, in order.
 */
export async function writeByJourney(
  ctx: InTx,
  asked: JourneyState[],
): Promise<('written' | 'unchanged' | 'consent_kept' | 'subscription_gone')[]> {
  const ids = [...new Set(asked.map(({ user_id }) => user_id))].sort((a, b) => a - b)
  await queries.lockUsers(ctx, ids)
  const rows: (Consent & { is_chosen?: boolean })[] = await queries.subscriptionStates(ctx, asked)
  const known = new Map(rows.map((row) => [pairOf(row), row]))
  const outcomes = asked.map(({ user_id, subscription_id, state }) => {
    const pair = pairOf({ user_id, subscription_id })
    const before = known.get(pair)
    if (!before) return 'subscription_gone' as const
    const { consent_id, is_chosen = consent_id !== null } = before
    if (before.state === 0 && is_chosen && state === 1) return 'consent_kept' as const
    if (before.state === state || (before.state === 2 && state === 1)) return 'unchanged' as const
    known.set(pair, { ...before, state, is_chosen: true })
    return 'written' as const
  })
  const written = asked.filter((_, at) => outcomes[at] === 'written')
  for (const changes of oncePerPair(written)) await writeStates(ctx, changes, { source: 'journey' }, { keepsConfirmed: true })
  return outcomes
}

/** Changes in as few groups as there are of one user and type, because a statement saves each pair once. */
function oncePerPair(changes: JourneyState[]): Iterable<JourneyState[]> {
  const times = new Map<string, number>()
  return Map.groupBy(changes, (change) => {
    const pair = pairOf(change)
    const time = times.get(pair) ?? 0
    times.set(pair, time + 1)
    return time
  }).values()
}

/**
 * Undoes `subscribeNew` for pairs of user and type: deletes the states that are still those of the import. The consent entries are kept,
 * and one more records the deletion.
 */
export async function withdrawImported(ctx: InTx, imported: consents.Imported[]): Promise<void> {
  if (imported.length === 0) return
  const written = await consents.deleteImported(ctx, imported)
  await appendUserChanges(
    ctx,
    [...Map.groupBy(written, ({ user_id }) => user_id)].map(([user_id, states]) => ({
      user_id,
      what: states.map(({ subscription_id }) => `subscription:${subscription_id}`),
    })),
  )
}
