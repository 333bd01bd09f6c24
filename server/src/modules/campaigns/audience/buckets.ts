/**
 * Divides an audience by buckets. A user's bucket depends only on the campaign and the user, so it is the same in every process at any
 * time. Pure.
 */
import type { CampaignId, UserId } from '../../../lib/ids.ts'

/** The purposes of a division. A user's bucket for one is independent of the buckets for the others. */
const PURPOSES = { holdout: 1, variant: 2, test: 3 } as const
type Purpose = keyof typeof PURPOSES

const WORD = 2 ** 32

/** The bucket of a user: at least 0, less than 1, evenly distributed. MurmurHash3 (x86, 32 bits) of five words. */
export function bucketOf(purpose: Purpose, campaign: CampaignId, user: UserId): number {
  const words = [PURPOSES[purpose], campaign % WORD, Math.floor(campaign / WORD), user % WORD, Math.floor(user / WORD)]
  let hash = 0
  for (const word of words) {
    const scrambled = Math.imul(rotated(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593)
    hash = (Math.imul(rotated(hash ^ scrambled, 13), 5) + 0xe6546b64) | 0
  }
  hash ^= words.length * 4
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / WORD
}

const rotated = (word: number, by: number) => (word << by) | (word >>> (32 - by))

/** Whether the user is in a share of `percent`. */
export const isInShare = (purpose: Purpose, percent: number, campaign: CampaignId, user: UserId): boolean =>
  percent > 0 && bucketOf(purpose, campaign, user) * 100 < percent

/** The index of the user's variant, chosen by weight. There must be at least one weight. */
export function variantIndexOf(weights: readonly number[], campaign: CampaignId, user: UserId): number {
  let rest = bucketOf('variant', campaign, user) * weights.reduce((sum, weight) => sum + weight, 0)
  const index = weights.findIndex((weight) => {
    rest -= weight
    return rest < 0
  })
  return index === -1 ? weights.length - 1 : index
}
