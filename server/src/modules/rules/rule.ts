/** The types of rules, as they are sent and stored. `check.ts` checks values. */
import { Type } from 'typebox'
import { componentRef } from '../../lib/shapes.ts'

/** One operator with its argument, such as `{ "greater_than": 50 }`. */
export type Comparison = { readonly [operator: string]: unknown }

/** A comparison of an attribute of the user. `as` declares the values of a path into `data`. */
export type AttributeCondition = { attribute: string; as?: 'date' } & Comparison

/** A comparison of an attribute of an event. */
export type EventTest = { attribute: string; as?: 'date' } & Comparison

/** Which events count by their time: in a sliding window, since an instant, before an instant. */
export type Period = { within?: string; since?: string; until?: string }

/** How often an event occurred, or when it occurred for the first or last time. */
export type EventCondition = Period & {
  event: string
  at_least?: number
  at_most?: number
  exactly?: number
  first?: Comparison
  last?: Comparison
  where?: EventTest[]
}

export type ListCondition = { list: number }

export const SUBSCRIPTION_STATES = ['subscribed', 'unsubscribed', 'confirmed'] as const
export type SubscriptionCondition = { subscription: number; is: (typeof SUBSCRIPTION_STATES)[number] }

/** The system events that a user entered a list or left it. */
export const [LIST_ENTERED, LIST_LEFT] = ['list_entered', 'list_left'] as const
export const MEMBERSHIP_EVENTS: readonly string[] = [LIST_ENTERED, LIST_LEFT]

export const CAMPAIGN_ACTIONS = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained', 'failed'] as const
/** What happened to a message of a campaign. */
export type CampaignCondition = Period & { campaign: number; did: (typeof CAMPAIGN_ACTIONS)[number] }

export const JOURNEY_STATES = ['inside', 'never_entered', 'completed', 'exited', 'held_out'] as const
/** Where a user is in a journey, or was. */
export type JourneyCondition = { journey: number; is: (typeof JOURNEY_STATES)[number]; step?: string; within?: string }

export const DEVICE_FIELDS = ['os', 'os_version', 'model', 'app_version', 'app_build'] as const
/** A comparison that must hold for at least one device. */
export type DeviceCondition = { device: (typeof DEVICE_FIELDS)[number] } & Comparison

/** A comparison of a number from 0 to 99 that is stable for a user and a seed. */
export type BucketCondition = { bucket: string } & Comparison

export type Condition =
  | AttributeCondition
  | EventCondition
  | ListCondition
  | SubscriptionCondition
  | CampaignCondition
  | JourneyCondition
  | DeviceCondition
  | BucketCondition

export type Rule = { all: Rule[] } | { any: Rule[] } | { none: Rule[] } | { not: Rule } | Condition

/** Documents the items of `where` as the component that `components.ts` declares. */
export const TESTS_DOCUMENTED = { items: componentRef('EventTest') }

/** For the API reference. `check.ts` does the full check. */
export const RuleSchema = Type.Unsafe<Rule>({
  type: 'object',
  component: 'Rule',
  description:
    'Which users match: `all`, `any` or `none` of 1 to 50 rules, `not` of one rule, or a condition. ' +
    'A condition is on an `attribute`, an `event`, a `list`, a `subscription`, a `campaign`, a `journey`, a `device` or a `bucket`. ' +
    'Rules nest 8 levels deep and have at most 100 conditions.',
  examples: [{ all: [{ attribute: 'data.plan', is: 'pro' }, { event: 'purchase', at_least: 3, within: '30d' }, { not: { list: 12 } }] }],
})
