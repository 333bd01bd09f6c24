import { describe, expect, test } from 'vitest'
import type { CampaignId, UserId } from '../../../lib/ids.ts'
import { bucketOf, isInShare, variantIndexOf } from './buckets.ts'

const USERS = 200_000
const campaign = 7 as CampaignId
const users = Array.from({ length: USERS }, (_, index) => (index + 1) as UserId)
const shareOf = (is: (user: UserId) => boolean) => users.filter(is).length / USERS

/** Five standard deviations of a correct share. */
const within = (share: number) => 5 * Math.sqrt((share * (1 - share)) / USERS)

// A user who is held out today must be held out tomorrow, and on another machine.
test.each([
  ['holdout', 1, 1, 0.9927712022326887],
  ['variant', 1, 2 ** 40, 0.6372107821516693],
] as const)('for a %s of campaign %i the bucket of user %i never changes', (purpose, campaign, user, bucket) =>
  expect(bucketOf(purpose, campaign as CampaignId, user as UserId)).toBe(bucket),
)

describe('shares', () => {
  test.each([0, 1, 10, 50, 90, 100])('a share of %i percent has that many users', (percent) => {
    const share = shareOf((user) => isInShare('holdout', percent, campaign, user))
    expect(Math.abs(share - percent / 100)).toBeLessThanOrEqual(within(percent / 100))
  })

  test.each([[[1, 1]], [[3, 1]], [[1, 2, 3, 4]], [[1000, 1]], [Array(26).fill(1)]])(
    'variants get users by the weights %j',
    (weights: number[]) => {
      const total = weights.reduce((sum, weight) => sum + weight, 0)
      const parts = Map.groupBy(users, (user) => variantIndexOf(weights, campaign, user))
      for (const [part, weight] of weights.entries()) {
        const share = (parts.get(part)?.length ?? 0) / USERS
        expect(Math.abs(share - weight / total)).toBeLessThanOrEqual(within(weight / total))
      }
    },
  )

  test('the buckets for different purposes and campaigns are independent', () => {
    const independent = within(0.25)
    const half = (purpose: 'holdout' | 'variant' | 'test', of: number) => (user: UserId) => bucketOf(purpose, of as CampaignId, user) < 0.5
    for (const [one, other] of [
      [half('holdout', 7), half('variant', 7)],
      [half('variant', 7), half('test', 7)],
      [half('holdout', 7), half('holdout', 8)],
    ] as const)
      expect(Math.abs(shareOf((user) => one(user) && other(user)) - 0.25)).toBeLessThanOrEqual(independent)
  })
})
