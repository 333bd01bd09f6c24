/** Suppressed addresses. */
import { createSecretKey, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { mapPage, type PageOf, type PageRequest } from '../../../infra/http/paging.ts'
import { type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { atMost } from '../../../lib/cache-limit.ts'
import { ADDRESSED, type Addressed, addressOf, type Channel, hasAddresses } from '../../../lib/channels.ts'
import { missing, refuse } from '../../../lib/errors.ts'
import type { UserId } from '../../../lib/ids.ts'
import { distinct } from '../../../lib/shapes.ts'
import { simulatedBy } from '../../../lib/simulator.ts'
import { addressFaults, hashOf, normalised } from './addresses.ts'
import { deleteBounces, deleteBouncesOf, lockBounces } from './bounces.queries.ts'
import { addedTo, isSame } from './covering.ts'
import * as queries from './queries.ts'
import type { Suppression, SuppressionInputs, SuppressionReason, SuppressionRow, UserSuppression } from './schema.ts'

const KEY_BYTES = 32
const KEYS_KEPT = 10_000

/** Decrypted keys, by their encrypted form. */
const opened = new LRUCache<string, KeyObject>(atMost(KEYS_KEPT))

function openKey(ctx: ProjectCtx, sealed: string): KeyObject {
  const known = opened.get(sealed)
  if (known) return known
  const key = createSecretKey(ctx.secrets.open(sealed, sealedFor(ctx)), 'base64')
  opened.set(sealed, key)
  return key
}

const sealedFor = ({ projectId }: ProjectCtx) => `suppression_keys ${projectId}`

/** The key of the project's hashes; undefined if nothing was ever suppressed. */
export async function keyOf(ctx: ProjectCtx): Promise<KeyObject | undefined> {
  const row = await queries.findKey(ctx)
  return row && openKey(ctx, row.sealed_key)
}

async function keyCreated(ctx: InTx): Promise<KeyObject> {
  const key = await keyOf(ctx)
  if (key) return key
  await queries.insertKey(ctx, ctx.secrets.seal(ctx.secrets.random(KEY_BYTES).toString('base64'), sealedFor(ctx)))
  const created = await keyOf(ctx)
  if (!created) throw new Error('The key of suppressions was not stored.')
  return created
}

/** The hash of a normalised address, with the key of the project. Creates the key if there is none. */
export const hashOfAddress = async (ctx: InTx, address: string): Promise<string> => hashOf(await keyCreated(ctx), address)

/** Whether the messages are transactional. Users who unsubscribe from everything on a page get those. */
export type SuppressedMessages = { isTransactional: boolean }

/** The addresses among these that get no such messages, as they were given, with the reasons. */
export async function suppressedAmong(
  ctx: ProjectCtx,
  channel: Channel,
  addresses: string[],
  { isTransactional }: SuppressedMessages = { isTransactional: false },
): Promise<Map<string, SuppressionReason>> {
  if (!hasAddresses(channel) || addresses.length === 0) return new Map()
  const key = await keyOf(ctx)
  if (!key) return new Map()
  const hashes = new Map(addresses.map((address) => [address, hashOf(key, normalised(channel, address, ctx.project))]))
  const rows = await queries.reasonsOf(
    ctx,
    distinct([...hashes.values()]).map((address_hash) => ({ channel, address_hash })),
  )
  const stopping = rows.filter(({ stops_transactional }) => stops_transactional || !isTransactional)
  const reasons = new Map(stopping.map(({ address_hash, reason }) => [address_hash, reason]))
  return new Map(
    [...hashes].flatMap(([address, hash]) => {
      const reason = reasons.get(hash)
      return reason ? [[address, reason] as const] : []
    }),
  )
}

/** The addresses among these that get no such messages, each with the time since when. Suppressions that were lifted are not included. */
export async function suppressedSince(
  ctx: ProjectCtx,
  channel: Channel,
  addresses: string[],
  { isTransactional }: SuppressedMessages,
): Promise<Map<string, Date>> {
  if (!hasAddresses(channel) || addresses.length === 0) return new Map()
  const key = await keyOf(ctx)
  if (!key) return new Map()
  const hashes = new Map(addresses.map((address) => [address, hashOf(key, normalised(channel, address, ctx.project))]))
  const rows = await queries.findSuppressions(
    ctx,
    distinct([...hashes.values()]).map((address_hash) => ({ channel, address_hash })),
  )
  const stopping = rows.filter(({ stops_transactional }) => stops_transactional || !isTransactional)
  const since = new Map(stopping.map(({ address_hash, created_at }) => [address_hash, created_at]))
  return new Map(
    [...hashes].flatMap(([address, hash]) => {
      const at = since.get(hash)
      return at ? [[address, at] as const] : []
    }),
  )
}

/**
 * An address to suppress. `source` is what caused it, such as a message. Transactional messages are stopped too, and the address is stored with
 * its hash, unless it says otherwise.
 */
export type Suppressing = {
  channel: Addressed
  address: string
  isAddressKept?: boolean
  reason: SuppressionReason
  stopsTransactional?: boolean
  source: Record<string, unknown>
}

const BY_REPORT: readonly SuppressionReason[] = ['hard_bounce', 'complaint']

/**
 * Suppresses addresses. Of several suppressions of an address, also within the call, the strongest counts. It covers an opt-out from
 * everything, which applies again when the other one is lifted; an erasure covers the strongest other one, from before or since.
 */
export async function suppress(ctx: InTx, given: Suppressing[]): Promise<void> {
  // The simulator bounces and complains again the next time.
  const entries = given.filter(({ address, reason }) => !BY_REPORT.includes(reason) || simulatedBy(address) === null)
  if (entries.length === 0) return
  const key = await keyCreated(ctx)
  const byAddress = new Map<string, queries.Entry>()
  for (const { channel, address, isAddressKept = true, reason, stopsTransactional = true, source } of entries) {
    const form = normalised(channel, address, ctx.project)
    const address_hash = hashOf(key, form)
    const kept = reason === 'erased' ? { address: null, source: {} } : { address: isAddressKept ? form : null, source }
    const entry = { channel, address_hash, reason, stops_transactional: stopsTransactional, ...kept }
    const known = byAddress.get(nameOf(entry))
    byAddress.set(nameOf(entry), known ? addedTo<queries.Entry>(known, entry) : entry)
  }
  const stored = await queries.insertSuppressions(ctx, [...byAddress.values()])
  const changed = stored.flatMap(({ id, ...row }) => {
    const entry = byAddress.get(nameOf(row))
    const after = entry && addedTo<queries.Entry>({ ...row, address: null }, entry)
    if (!after || isSame(row, after)) return []
    const { address, reason, stops_transactional, source } = after
    const is_replaced = reason !== row.reason || stops_transactional !== row.stops_transactional
    return [{ id, address, reason, stops_transactional, source, is_replaced }]
  })
  if (changed.length > 0) await queries.changeSuppressions(ctx, changed)
}

const nameOf = ({ channel, address_hash }: Pick<queries.Entry, 'channel' | 'address_hash'>) => `${channel} ${address_hash}`

type Contact = { email: string | null; phone: string | null }

/** An address with the channel that reaches it. */
export type Address = Pick<Suppressing, 'channel' | 'address'>

/** The addresses of a user that can be suppressed. */
export const addressesOf = (contact: Contact): Address[] =>
  ADDRESSED.flatMap((channel) => {
    const address = addressOf(channel, contact)
    return address === null ? [] : [{ channel, address }]
  })

/** The hashes of addresses. */
export const hashed = (ctx: ProjectCtx, key: KeyObject, addresses: Address[]) =>
  addresses.map((one) => ({ channel: one.channel, address_hash: hashOf(key, formOf(ctx, one)) }))

const formOf = ({ project }: ProjectCtx, { channel, address }: Address) => normalised(channel, address, project)

/**
 * Waits for transactions that change the suppressions of these addresses, such as a sign-up that lifts one, and holds them. In the order in
 * which a bounce locks them.
 */
export async function lockAddresses(ctx: InTx, users: Contact[]): Promise<void> {
  const key = await keyOf(ctx)
  const addresses = users.flatMap(addressesOf)
  if (!key || addresses.length === 0) return
  const wanted = hashed(ctx, key, addresses)
  await lockBounces(
    ctx,
    wanted.map(({ address_hash }) => address_hash),
  )
  await queries.lockSuppressions(ctx, wanted)
}

/** Suppresses the addresses of erased users permanently. Only hashes of them are kept. */
export async function suppressErased(ctx: InTx, users: Contact[]): Promise<void> {
  const addresses = users.flatMap(addressesOf)
  if (addresses.length === 0) return
  // In the order in which a bounce locks them.
  await deleteBounces(
    ctx,
    hashed(ctx, await keyCreated(ctx), addresses).map(({ address_hash }) => address_hash),
  )
  await suppress(
    ctx,
    addresses.map((address) => ({ ...address, reason: 'erased', source: {} })),
  )
}

/** The suppressions of the current addresses of a user. */
export const suppressionsOf = async (ctx: ProjectCtx, contact: Contact): Promise<UserSuppression[]> =>
  (await suppressionsWithSource(ctx, [contact])).map(({ channel, reason, stops_transactional }) => ({
    channel,
    reason,
    stops_transactional,
  }))

/** The suppressions of the addresses of users, with everything that is stored about them. */
export async function suppressionsWithSource(ctx: ProjectCtx, contacts: Contact[]): Promise<SuppressionRow[]> {
  const key = await keyOf(ctx)
  const addresses = contacts.flatMap(addressesOf)
  const rows = key && addresses.length > 0 ? await queries.findSuppressions(ctx, hashed(ctx, key, addresses)) : []
  return rows.map(({ address_hash: _, ...row }) => row).toSorted((a, b) => ADDRESSED.indexOf(a.channel) - ADDRESSED.indexOf(b.channel))
}

/** A user who signed up with an address. */
export type SignUp = { user_id: UserId } & Address

/**
 * Lifts the suppressions `erased` of these addresses; a complaint, a bounce or an opt-out that one of them covered applies again. New users then
 * get transactional email in spite of the second button (D-SUB-5). Returns those that were lifted. Phone numbers are excluded from that: the
 * next owner of a number must not undo the STOP of the previous one.
 */
export async function liftForSignUps(ctx: InTx, signUpsIn: () => Promise<SignUp[]>): Promise<SignUp[]> {
  const key = await keyOf(ctx)
  const signUps = key ? await signUpsIn() : []
  if (!key || signUps.length === 0) return []
  const wanted = hashed(ctx, key, signUps)
  const addresses = wanted.map((one, at) => ({ ...one, address: formOf(ctx, signUps[at] as SignUp) }))
  const lifted = new Set((await queries.liftErased(ctx, addresses)).map(({ channel, address_hash }) => `${channel} ${address_hash}`))
  const emails = wanted.filter(({ channel }) => channel === 'email')
  if (emails.length > 0) await queries.allowTransactional(ctx, emails)
  return signUps.filter((_, at) => lifted.has(`${wanted[at]?.channel} ${wanted[at]?.address_hash}`))
}

/** A suppression for a reply. */
const present = ({ stops_transactional, ...row }: SuppressionRow): Suppression => ({
  ...row,
  ...(!stops_transactional && { stops_transactional }),
})

/** A page of suppressions. `q` is a complete address. */
export async function listSuppressions(ctx: ProjectCtx, page: PageRequest): Promise<PageOf<Suppression>> {
  if (page.q === '') return mapPage(await queries.listSuppressions(ctx, page, null), present)
  const key = await keyOf(ctx)
  const hashes = key ? ADDRESSED.map((channel) => hashOf(key, normalised(channel, page.q, ctx.project))) : []
  return mapPage(await queries.listSuppressions(ctx, page, hashes), present)
}

/** Suppresses addresses for a caller. Throws 400 for invalid ones. Returns their current suppressions. */
export async function createSuppressions(ctx: ProjectCtx, inputs: SuppressionInputs, proof: object): Promise<Suppression[]> {
  refuse(addressFaults(ctx, inputs))
  return inTx(ctx, async (ctx) => {
    await suppress(
      ctx,
      inputs.map(({ channel, address, reason = 'manual' }) => ({
        channel,
        address,
        reason,
        stopsTransactional: reason !== 'unsubscribed_all',
        source: { ...proof },
      })),
    )
    const key = await keyCreated(ctx)
    const wanted = hashed(ctx, key, inputs)
    const rows = await queries.findSuppressions(ctx, wanted)
    const places = distinct(wanted.map(({ channel, address_hash }) => `${channel} ${address_hash}`))
    const placeOf = ({ channel, address_hash }: (typeof wanted)[number]) => places.indexOf(`${channel} ${address_hash}`)
    return rows.sort((a, b) => placeOf(a) - placeOf(b)).map(({ address_hash: _, ...row }) => present(row))
  })
}

/**
 * Lifts a suppression with any reason; an opt-out from everything that it covered applies again. The bounces of the address are counted
 * anew. Throws 404.
 */
export const deleteSuppression = (ctx: ProjectCtx, id: number): Promise<void> =>
  inTx(ctx, async (ctx) => {
    // In the order in which a bounce locks them.
    await deleteBouncesOf(ctx, id)
    if ((await queries.deleteSuppression(ctx, id)) === 0) throw missing('suppression')
  })
