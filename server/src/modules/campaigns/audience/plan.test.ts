/** Hold-out, winner test and variant are drawn independently of each other, and anew for each campaign. */
import { describe, expect, test } from 'vitest'
import type { CampaignId, SubscriptionId, UserId } from '../../../lib/ids.ts'
import type { CampaignRow } from '../schema.ts'
import type { Member } from './members.ts'
import { planFor, skipReason, variantFor } from './plan.ts'

const USERS = 4000
const HOLDOUT_PERCENT = 30
const WEIGHTS = [3, 1]
const now = new Date('2026-11-23T09:00:00.000Z')

const member = (id: number): Member => ({
  user: {
    id: id as UserId,
    external_id: `u${id}`,
    anonymous_id: null,
    email: `u${id}@example.com`,
    phone: null,
    timezone: null,
    has_push_device: false,
  },
  isExcluded: false,
  consent: {
    user_id: id as UserId,
    subscription_id: 1 as SubscriptionId,
    state: 1,
    consent_id: null,
    is_transactional: false,
    requires_confirmation: false,
  },
  suppression: undefined,
})
const members = Array.from({ length: USERS }, (_, index) => member(index + 1))

const split = (id: number, winner: CampaignRow['winner'] = null) => ({
  id: id as CampaignId,
  channel: 'email' as const,
  holdout_percent: HOLDOUT_PERCENT,
  variants: WEIGHTS.map((weight, index) => ({ name: `Variant ${index}`, weight })),
  winner,
  started_at: now,
  expires_after_hours: 72,
})
type Split = ReturnType<typeof split>

const isHeldOut = (campaign: Split) => (one: Member) => skipReason(campaign, one) === 'holdout'
const hasVariant = (campaign: Split, variant: number | null) => (one: Member) => variantFor(campaign, one.user) === variant

/** Expects a share that is right within five standard deviations, in a group that is large enough to tell. */
function expectShare(of: Member[], is: (one: Member) => boolean, share: number): void {
  expect(of.length).toBeGreaterThan(300)
  expect(Math.abs(of.filter(is).length / of.length - share)).toBeLessThanOrEqual(5 * Math.sqrt((share * (1 - share)) / of.length))
}

const SHARES = WEIGHTS.map((weight) => weight / WEIGHTS.reduce((sum, one) => sum + one, 0))

describe.each([1, 7, 1000])('of 4,000 users, in campaign %i,', (id) => {
  const campaign = split(id)

  test('users who are not held out get the variants by their weights', () => {
    const reached = members.filter((one) => !isHeldOut(campaign)(one))
    for (const [variant, share] of SHARES.entries()) expectShare(reached, hasVariant(campaign, variant), share)
    const planned = reached.map((one) => planFor(campaign, one, () => now, now))
    expect(planned.map(({ variant }) => variant)).toEqual(reached.map(({ user }) => variantFor(campaign, user)))
  })

  test('the same share is held out of the users of each variant', () => {
    for (const variant of WEIGHTS.keys())
      expectShare(members.filter(hasVariant(campaign, variant)), isHeldOut(campaign), HOLDOUT_PERCENT / 100)
  })

  test('the same share is held out of the winner test and of the rest, and the test has the variants by their weights', () => {
    const testing = split(id, { metric: 'opens', test_percent: 40, after_minutes: 60 })
    const waits = hasVariant(testing, null)
    const tested = members.filter((one) => !waits(one))
    expectShare(members, waits, 0.6)
    expectShare(tested, isHeldOut(testing), HOLDOUT_PERCENT / 100)
    expectShare(members.filter(waits), isHeldOut(testing), HOLDOUT_PERCENT / 100)
    for (const [variant, share] of SHARES.entries()) expectShare(tested, hasVariant(testing, variant), share)
  })

  test('hold-out and variants of the next campaign do not depend on those of this one', () => {
    const next = split(id + 1)
    expectShare(members.filter(isHeldOut(campaign)), isHeldOut(next), HOLDOUT_PERCENT / 100)
    for (const [variant, share] of SHARES.entries())
      for (const before of WEIGHTS.keys()) expectShare(members.filter(hasVariant(campaign, before)), hasVariant(next, variant), share)
  })
})
