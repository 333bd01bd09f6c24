/** Sends what an export contains to the API: users, states of subscriptions, suppressed addresses and members of a list. */
import { mapWithConcurrency } from '../../lib/concurrency.ts'
import type { Call } from '../call-api.ts'
import type { ExportedUser, Suppression } from './product.ts'

/** The most items in one request, and the most bytes, which are fewer than a server accepts by default. */
export const BATCH_ITEMS = 100
export const BATCH_BYTES_MAX = 1_000_000
const REQUESTS_AT_ONCE = 8

export type Target = {
  call: Call
  /** The subscription type that the subscription states in the export are for. Without one, each opt-out stops every message to the address. */
  subscriptionId?: number
  /** The id of the subscription type for each topic. */
  topics: Record<string, number>
  listId?: number
}

export type Counts = { users: number; refused: number; states: number; suppressions: number }

/** A user that the API refused, with the reason. */
export type Refusal = { number: number; message: string }

export type Batch = { user: ExportedUser; number: number }[]

/** The bytes that a user takes in the request of a batch. */
export const bytesOf = ({ user }: ExportedUser): number => Buffer.byteLength(JSON.stringify(user)) + 1

const ERASED = 'A user with this address was erased. Lift the suppression of the address first if the user agreed to come back.'

/**
 * Saves a batch of users with their consent, without those who were erased. An import can break off anywhere, so an opt-out is stored before its
 * user can be reached: addresses are suppressed first, and users who opted out of a type get their addresses last. Returns what was saved and what was refused.
 */
export async function sendUsers(given: Batch, target: Target): Promise<{ counts: Counts; refusals: Refusal[] }> {
  const erased = await mapWithConcurrency(given, REQUESTS_AT_ONCE, ({ user }) => isErased(user, target))
  const batch = given.filter((_, at) => !erased[at])
  const suppressions = await sendSuppressions(
    batch.flatMap(({ user }) => suppressionsOf(user, target)),
    target,
  )
  const optedOut = new Set(batch.filter(({ user }) => optsOutOfType(user, target)).map(idOf))
  const first = await saveBatch(
    batch.map((item) => (optedOut.has(idOf(item)) ? withoutAddresses(item) : item)),
    target,
  )
  const refusedFirst = new Set(first.map(({ number }) => number))
  const saved = batch.filter(({ number }) => !refusedFirst.has(number))
  const states = await sendStates(
    saved.map(({ user }) => user),
    target,
  )
  const last = await saveBatch(
    saved.filter((item) => optedOut.has(idOf(item))),
    target,
  )
  if (target.listId !== undefined && saved.length > 0)
    await target.call('POST', `/api/client/lists/${target.listId}/users`, { external_ids: saved.map(({ user }) => user.user.external_id) })
  const refusals = [...given.flatMap(({ number }, at) => (erased[at] ? [{ number, message: ERASED }] : [])), ...first, ...last].toSorted(
    (a, b) => a.number - b.number,
  )
  return { counts: { users: given.length - refusals.length, refused: refusals.length, states, suppressions }, refusals }
}

const idOf = ({ user }: Batch[number]): string => user.user.external_id

/** Whether an opt-out of a subscription type is to be stored, which a user must have before. */
const optsOutOfType = (user: ExportedUser, target: Target): boolean => statesOf(user, target).some(({ state }) => state === 0)

function withoutAddresses({ user, number }: Batch[number]): Batch[number] {
  const { email: _, phone: __, ...rest } = user.user
  return { user: { ...user, user: rest }, number }
}

/** Saves users. Returns those that the API refused. */
async function saveBatch(batch: Batch, { call }: Target): Promise<Refusal[]> {
  if (batch.length === 0) return []
  const body = batch.map(({ user }) => user.user)
  const { results } = (await call('POST', '/api/client/users/batch?import=true', body)) as BatchReply
  return results.flatMap(({ index, error }) => (error ? [{ number: batch[index]?.number ?? 0, message: error.message }] : []))
}

type BatchReply = { results: { index: number; error?: { message: string } }[] }

/** Whether the address belonged to a user who was erased. The import must not create that user again. */
async function isErased({ user: { email, phone } }: ExportedUser, { call }: Target): Promise<boolean> {
  for (const q of [email, phone]) {
    if (q === undefined) continue
    const { results } = (await call('GET', `/api/client/suppressions?${new URLSearchParams({ q })}`)) as { results: { reason: string }[] }
    if (results.some(({ reason }) => reason === 'erased')) return true
  }
  return false
}

/** Suppresses addresses, in as many requests as are needed. Returns their number. */
export async function sendSuppressions(suppressions: Suppression[], { call }: Pick<Target, 'call'>): Promise<number> {
  for (let at = 0; at < suppressions.length; at += BATCH_ITEMS)
    await call('POST', '/api/client/suppressions', suppressions.slice(at, at + BATCH_ITEMS))
  return suppressions.length
}

async function sendStates(users: ExportedUser[], target: Target): Promise<number> {
  const sent = await mapWithConcurrency(users, REQUESTS_AT_ONCE, async (user) => {
    const path = `/api/client/users/${encodeURIComponent(user.user.external_id)}`
    const given = statesOf(user, target)
    const states = given.some(({ state }) => state === 1) ? await withoutDecided(given, path, target) : given
    if (states.length > 0) await target.call('PATCH', `${path}/subscriptions`, states)
    return states.length
  })
  return sent.reduce((sum, count) => sum + count, 0)
}

type State = { subscription_id: number; state: 0 | 1 }

/** Leaves out state 1 of types that the user, or an earlier import, has decided about: the file may be older than an opt-out. */
async function withoutDecided(states: State[], path: string, target: Target): Promise<State[]> {
  const decided = await typesWithConsent(path, target)
  return states.filter(({ subscription_id, state }) => state === 0 || !decided.has(subscription_id))
}

async function typesWithConsent(path: string, { call }: Target): Promise<Set<number>> {
  const types = new Set<number>()
  let cursor = ''
  do {
    const page = (await call('GET', `${path}/consents?limit=100${cursor}`)) as ConsentPage
    for (const { subscription_id } of page.results) types.add(subscription_id)
    cursor = page.nextCursor ? `&cursor=${encodeURIComponent(page.nextCursor)}` : ''
  } while (cursor !== '')
  return types
}

type ConsentPage = { results: { subscription_id: number }[]; nextCursor: string | null }

/** The states that an export tells. An opt-out of everything is one of the chosen type too. */
function statesOf({ isSubscribed, topics }: ExportedUser, { subscriptionId, topics: wanted }: Target): State[] {
  const known = Object.entries(topics).filter(([topic]) => Object.hasOwn(wanted, topic))
  return [
    ...(subscriptionId !== undefined && isSubscribed !== undefined
      ? [{ subscription_id: subscriptionId, state: stateOf(isSubscribed) }]
      : []),
    ...known.map(([topic, state]) => ({ subscription_id: wanted[topic] as number, state: stateOf(state) })),
  ]
}

const stateOf = (isSubscribed: boolean): 0 | 1 => (isSubscribed ? 1 : 0)

/** The addresses of a user to suppress: blocked ones, and those of users who opted out, unless that concerns the subscription type only. */
export function suppressionsOf(
  { user, isSubscribed, blocked, channels, optsOutOf }: ExportedUser,
  { subscriptionId }: Pick<Target, 'subscriptionId'>,
): Suppression[] {
  const isOfType = subscriptionId !== undefined && optsOutOf === 'audience'
  const reason = blocked ?? (isSubscribed === false && !isOfType ? 'unsubscribed_all' : undefined)
  if (reason === undefined) return []
  const addresses = { email: user.email, text: user.phone }
  return channels.flatMap((channel) => {
    const address = addresses[channel]
    return address === undefined ? [] : [{ channel, address, reason }]
  })
}
