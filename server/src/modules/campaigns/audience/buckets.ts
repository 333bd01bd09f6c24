/**
 * Who falls into which part of an audience. A person's place depends on the campaign and the person alone, so that it is the same
 * whenever and wherever it is asked. Pure.
 */
import type { CampaignId, UserId } from '../../../lib/ids.ts'

/** What an audience is divided for. Each is independent of the others. */
const PURPOSES = { holdout: 1, variant: 2, test: 3 } as const
type Purpose = keyof typeof PURPOSES

const WORD = 2 ** 32

/** A number from 0 up to but not including 1, spread evenly over people. MurmurHash3 (x86, 32 bits) of five words. */
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

/** Is the person one of `percent` in a hundred? */
export const isInShare = (purpose: Purpose, percent: number, campaign: CampaignId, user: UserId): boolean =>
  percent > 0 && bucketOf(purpose, campaign, user) * 100 < percent

/** Which of several parts the person is in, by their weights. There must be a part. */
export function variantIndexOf(weights: readonly number[], campaign: CampaignId, user: UserId): number {
  let rest = bucketOf('variant', campaign, user) * weights.reduce((sum, weight) => sum + weight, 0)
  const part = weights.findIndex((weight) => {
    rest -= weight
    return rest < 0
  })
  return part === -1 ? weights.length - 1 : part
}
