/** An address gets one copy of a blast, however many users have it (D-CAMP-4). */
import { hash } from 'node:crypto'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import { type Channel, hasAddresses } from '../../lib/channels.ts'
import type { CampaignId, UserId } from '../../lib/ids.ts'
import { foldAddress } from '../subscriptions/index.ts'
import { findMergedInto } from '../users/index.ts'
import { type AddressHolder, findHolders, holdAddresses } from './addresses.queries.ts'

/** A user with an address on the channel of a campaign. */
export type Addressee = { user_id: UserId; address: string }

const HASH_DIGITS = 32

/**
 * The address as it is compared within a campaign: 128 bits of a hash, so that the address itself is not stored a second time. Null on
 * channels without addresses.
 */
export const addressHash = (ctx: ProjectCtx | InTx, campaignId: CampaignId, channel: Channel, address: string): string | null =>
  hasAddresses(channel)
    ? hash('sha256', `${ctx.projectId}\n${campaignId}\n${foldAddress(channel, address, ctx.project)}`, 'hex').slice(0, HASH_DIGITS)
    : null

/**
 * The users among these who do not get the blast, because another user with the same address does. Of the given users with one address the
 * first gets it, unless a user of an earlier chunk holds the address: the unique key decides, across all processes. Set `mostHold` if most
 * of the users hold their addresses already: that is looked up first, which writes nothing.
 */
export async function secondCopies(
  ctx: ProjectCtx | InTx,
  { campaign_id, channel, cause }: { campaign_id: CampaignId; channel: Channel; cause: string },
  addressees: Addressee[],
  { mostHold = false } = {},
): Promise<Set<UserId>> {
  const hashes = new Map<UserId, string>()
  for (const { user_id, address } of addressees) {
    const hash = addressHash(ctx, campaign_id, channel, address)
    if (hash !== null) hashes.set(user_id, hash)
  }
  if (hashes.size === 0) return new Set()
  const first = new Map<string, UserId>()
  for (const [user_id, hash] of hashes) if (!first.has(hash)) first.set(hash, user_id)
  const wanted = mostHold ? await withoutHolders(ctx, campaign_id, first) : first
  const holders = wanted.size === 0 ? first : new Map([...first, ...(await holdersOf(ctx, campaign_id, cause, wanted))])
  return new Set([...hashes].filter(([user_id, hash]) => holders.get(hash) !== user_id).map(([user_id]) => user_id))
}

/** Those of the users who do not hold their addresses yet. */
async function withoutHolders(ctx: ProjectCtx | InTx, campaignId: CampaignId, wanted: Map<string, UserId>): Promise<Map<string, UserId>> {
  const found = await findHolders(ctx, campaignId, [...wanted.keys()])
  const holders = new Map(found.map(({ address_hash, user_id }) => [plain(address_hash), user_id]))
  return new Map([...wanted].filter(([hash, user_id]) => holders.get(hash) !== user_id))
}

/** The user of each address, after the wanted ones were tried. A user who was merged is replaced by the remaining one. */
async function holdersOf(
  ctx: ProjectCtx | InTx,
  campaignId: CampaignId,
  cause: string,
  wanted: Map<string, UserId>,
): Promise<Map<string, UserId>> {
  const tried = [...wanted].map(([address_hash, user_id]): AddressHolder => ({ address_hash, user_id }))
  const others = (await holdAddresses(ctx, campaignId, cause, tried)).map(({ address_hash }) => address_hash)
  if (others.length === 0) return wanted
  const found = await findHolders(ctx, campaignId, others)
  const merged = await findMergedInto(ctx, ctx.projectId, [...new Set(found.map(({ user_id }) => user_id))])
  const mergedInto = new Map(merged.map(({ id, merged_into }) => [id, merged_into]))
  const held = new Map(wanted)
  for (const { address_hash, user_id } of found) held.set(plain(address_hash), mergedInto.get(user_id) ?? user_id)
  return held
}

/** The database writes a hash as a UUID. */
const plain = (uuid: string) => uuid.replaceAll('-', '')
