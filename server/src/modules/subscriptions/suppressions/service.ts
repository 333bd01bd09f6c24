/** Addresses that get nothing. */
import { createSecretKey, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { PageOf, PageRequest } from '../../../infra/http/paging.ts'
import { type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { ADDRESSED, type Addressed, addressOf, type Channel, hasAddresses } from '../../../lib/channels.ts'
import { type Fault, missing, refuse } from '../../../lib/errors.ts'
import { distinct } from '../../../lib/shapes.ts'
import { addressKind, hashOf, normalised } from './addresses.ts'
import * as queries from './queries.ts'
import { SUPPRESSION_REASONS, type SuppressionInputs, type SuppressionReason, type SuppressionRow } from './schema.ts'

const KEY_BYTES = 32
const KEYS_KEPT = 10_000

/** Opened keys by what they were sealed as. */
const opened = new LRUCache<string, KeyObject>({ max: KEYS_KEPT })

function openKey(ctx: ProjectCtx, sealed: string): KeyObject {
  const known = opened.get(sealed)
  if (known) return known
  const key = createSecretKey(ctx.secrets.open(sealed, sealedFor(ctx)), 'base64')
  opened.set(sealed, key)
  return key
}

const sealedFor = ({ projectId }: ProjectCtx) => `suppression_keys ${projectId}`

/** Without a key nothing was ever suppressed. */
async function keyOf(ctx: ProjectCtx): Promise<KeyObject | undefined> {
  const row = await queries.findKey(ctx)
  return row && openKey(ctx, row.sealed_key)
}

async function keyMade(ctx: InTx): Promise<KeyObject> {
  const key = await keyOf(ctx)
  if (key) return key
  await queries.insertKey(ctx, ctx.secrets.seal(ctx.secrets.random(KEY_BYTES).toString('base64'), sealedFor(ctx)))
  const made = await keyOf(ctx)
  if (!made) throw new Error('The key of suppressions was not stored.')
  return made
}

/** Which of these addresses get nothing, and why, under the form they were given in. */
export async function suppressedAmong(ctx: ProjectCtx, channel: Channel, addresses: string[]): Promise<Map<string, SuppressionReason>> {
  if (!hasAddresses(channel) || addresses.length === 0) return new Map()
  const key = await keyOf(ctx)
  if (!key) return new Map()
  const hashes = new Map(addresses.map((address) => [address, hashOf(key, normalised(channel, address, ctx.project))]))
  const rows = await queries.reasonsOf(
    ctx,
    distinct([...hashes.values()]).map((address_hash) => ({ channel, address_hash })),
  )
  const reasons = new Map(rows.map(({ address_hash, reason }) => [address_hash, reason]))
  return new Map(
    [...hashes].flatMap(([address, hash]) => {
      const reason = reasons.get(hash)
      return reason ? [[address, reason] as const] : []
    }),
  )
}

/** An address that is to get nothing. `source` is what that rests on, such as a message. */
export type Suppressing = { channel: Addressed; address: string; reason: SuppressionReason; source: Record<string, unknown> }

/** Suppresses addresses; of several for one the weightiest reason counts. */
export async function suppress(ctx: InTx, entries: Suppressing[]): Promise<void> {
  if (entries.length === 0) return
  const key = await keyMade(ctx)
  const byAddress = new Map<string, queries.Entry>()
  for (const { channel, address, reason, source } of entries) {
    const form = normalised(channel, address, ctx.project)
    const address_hash = hashOf(key, form)
    const name = `${channel} ${address_hash}`
    const known = byAddress.get(name)
    if (known && weightOf(known.reason) >= weightOf(reason)) continue
    const kept = reason === 'erased' ? { address: null, source: {} } : { address: form, source }
    byAddress.set(name, { channel, address_hash, reason, ...kept })
  }
  await queries.upsertSuppressions(ctx, [...byAddress.values()])
}

const weightOf = (reason: SuppressionReason) => SUPPRESSION_REASONS.indexOf(reason)

type Contact = { email: string | null; phone: string | null }

/** An address with the channel that reaches it. */
type Address = Pick<Suppressing, 'channel' | 'address'>

/** The addresses of a person that may be suppressed. */
export const addressesOf = (contact: Contact): Address[] =>
  ADDRESSED.flatMap((channel) => {
    const address = addressOf(channel, contact)
    return address === null ? [] : [{ channel, address }]
  })

const hashed = (ctx: ProjectCtx, key: KeyObject, addresses: Address[]) =>
  addresses.map(({ channel, address }) => ({ channel, address_hash: hashOf(key, normalised(channel, address, ctx.project)) }))

/** Who was erased is never written to again: a hash of their addresses stays, and nothing else. */
export const suppressErased = (ctx: InTx, users: Contact[]): Promise<void> =>
  suppress(
    ctx,
    users.flatMap(addressesOf).map((address) => ({ ...address, reason: 'erased', source: {} })),
  )

/** On which channels did whoever has these addresses unsubscribe from everything? */
export async function channelsUnsubscribedFromAll(ctx: ProjectCtx, addresses: Address[]): Promise<Set<Channel>> {
  const key = await keyOf(ctx)
  const rows = key && addresses.length > 0 ? await queries.findSuppressions(ctx, hashed(ctx, key, addresses)) : []
  return new Set(rows.filter(({ reason }) => reason === 'unsubscribed_all').map(({ channel }) => channel))
}

/** Lifts what a person brought about by unsubscribing from everything. Other reasons are not for them to lift. Was there any? */
export async function liftUnsubscribed(ctx: InTx, addresses: Address[]): Promise<boolean> {
  const key = await keyOf(ctx)
  return key !== undefined && addresses.length > 0 && (await queries.liftUnsubscribed(ctx, hashed(ctx, key, addresses))) > 0
}

/** A page of suppressions; `q` is a whole address. */
export async function listSuppressions(ctx: ProjectCtx, page: PageRequest): Promise<PageOf<SuppressionRow>> {
  if (page.q === '') return queries.listSuppressions(ctx, page, null)
  const key = await keyOf(ctx)
  const hashes = key ? ADDRESSED.map((channel) => hashOf(key, normalised(channel, page.q, ctx.project))) : []
  return queries.listSuppressions(ctx, page, hashes)
}

/** Suppresses addresses that the caller names. Throws 400 for one that is none. Answers how they are suppressed now. */
export async function createSuppressions(ctx: ProjectCtx, inputs: SuppressionInputs, proof: object): Promise<SuppressionRow[]> {
  refuse(unreadable(ctx, inputs))
  return inTx(ctx, async (ctx) => {
    await suppress(
      ctx,
      inputs.map(({ channel, address, reason = 'manual' }) => ({ channel, address, reason, source: { ...proof } })),
    )
    const key = await keyMade(ctx)
    const wanted = hashed(ctx, key, inputs)
    const rows = await queries.findSuppressions(ctx, wanted)
    const places = distinct(wanted.map(({ channel, address_hash }) => `${channel} ${address_hash}`))
    const placeOf = ({ channel, address_hash }: (typeof wanted)[number]) => places.indexOf(`${channel} ${address_hash}`)
    return rows.sort((a, b) => placeOf(a) - placeOf(b)).map(({ address_hash: _, ...row }) => row)
  })
}

const unreadable = (ctx: ProjectCtx, inputs: SuppressionInputs): Fault[] =>
  inputs.flatMap(({ channel, address }, at): Fault[] => {
    const { isAddress, says } = addressKind(channel)
    if (isAddress(address, ctx.project)) return []
    const param = `[${at}].address`
    return [{ code: 'parameter_invalid_format', param, message: `The value of \`${param}\` must be ${says}.` }]
  })

/** Lifts a suppression, whatever its reason. Throws 404. */
export async function deleteSuppression(ctx: ProjectCtx, id: number): Promise<void> {
  if ((await queries.deleteSuppression(ctx, id)) === 0) throw missing('suppression')
}
