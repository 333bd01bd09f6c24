/** Sends what an export contains to the API: users, states of subscriptions, suppressed addresses and members of a list. */
import { mapWithConcurrency } from '../../lib/concurrency.ts'
import type { Call } from '../call-api.ts'
import type { ExportedUser, Suppression } from './product.ts'

/** The most items in one request. */
export const BATCH_ITEMS = 100
const REQUESTS_AT_ONCE = 8

export type Target = {
  call: Call
  /** The subscription type that the subscription states in the export are for. Without one, an opt-out stops every message to the address. */
  subscriptionId?: number
  /** The id of the subscription type for each topic. */
  topics: Record<string, number>
  listId?: number
}

export type Counts = { users: number; refused: number; states: number; suppressions: number }

/** A user that the API refused, with the reason. */
export type Refusal = { number: number; message: string }

type Batch = { user: ExportedUser; number: number }[]

/** Saves a batch of users with their consent. Returns what was saved and what was refused. */
export async function sendUsers(batch: Batch, target: Target): Promise<{ counts: Counts; refusals: Refusal[] }> {
  const reply = (await target.call(
    'POST',
    '/api/client/users/batch',
    batch.map(({ user }) => user.user),
  )) as BatchReply
  const refusals = reply.results.flatMap(({ index, error }) =>
    error ? [{ number: batch[index]?.number ?? 0, message: error.message }] : [],
  )
  const saved = batch.filter((_, index) => !reply.results[index]?.error).map(({ user }) => user)
  const states = await sendStates(saved, target)
  const suppressions = await sendSuppressions(
    saved.flatMap((user) => suppressionsOf(user, target)),
    target,
  )
  if (target.listId !== undefined && saved.length > 0)
    await target.call('POST', `/api/client/lists/${target.listId}/users`, { external_ids: saved.map(({ user }) => user.external_id) })
  return { counts: { users: saved.length, refused: refusals.length, states, suppressions }, refusals }
}

type BatchReply = { results: { index: number; error?: { message: string } }[] }

/** Suppresses addresses, in as many requests as are needed. Returns their number. */
export async function sendSuppressions(suppressions: Suppression[], { call }: Pick<Target, 'call'>): Promise<number> {
  for (let at = 0; at < suppressions.length; at += BATCH_ITEMS)
    await call('POST', '/api/client/suppressions', suppressions.slice(at, at + BATCH_ITEMS))
  return suppressions.length
}

async function sendStates(users: ExportedUser[], target: Target): Promise<number> {
  const changes = users
    .map((user) => ({ id: user.user.external_id, states: statesOf(user, target) }))
    .filter(({ states }) => states.length > 0)
  await mapWithConcurrency(changes, REQUESTS_AT_ONCE, ({ id, states }) =>
    target.call('PATCH', `/api/client/users/${encodeURIComponent(id)}/subscriptions`, states),
  )
  return changes.reduce((sum, { states }) => sum + states.length, 0)
}

/** The states that an export tells. An opt-out of everything is one of the chosen type too. */
function statesOf({ isSubscribed, topics }: ExportedUser, { subscriptionId, topics: wanted }: Target) {
  const known = Object.entries(topics).filter(([topic]) => Object.hasOwn(wanted, topic))
  return [
    ...(subscriptionId !== undefined && isSubscribed !== undefined
      ? [{ subscription_id: subscriptionId, state: isSubscribed ? 1 : 0 }]
      : []),
    ...known.map(([topic, state]) => ({ subscription_id: wanted[topic], state: state ? 1 : 0 })),
  ]
}

/** The addresses of a user to suppress: blocked ones and, without a subscription type, those of users who opted out. */
export function suppressionsOf(
  { user, isSubscribed, blocked, channels }: ExportedUser,
  { subscriptionId }: Pick<Target, 'subscriptionId'>,
): Suppression[] {
  const reason = blocked ?? (isSubscribed === false && subscriptionId === undefined ? 'unsubscribed_all' : undefined)
  if (reason === undefined) return []
  const addresses = { email: user.email, text: user.phone }
  return channels.flatMap((channel) => {
    const address = addresses[channel]
    return address === undefined ? [] : [{ channel, address, reason }]
  })
}
