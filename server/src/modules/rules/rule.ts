/** The rule of a dynamic list, as it is sent and stored. What a value must be to be one is said by `check.ts`. */
import { Type } from 'typebox'

/** One operator with its argument, such as `{ "greater_than": 50 }`. */
export type Comparison = { readonly [operator: string]: unknown }

/** An attribute of a person, compared. */
export type AttributeCondition = { attribute: string } & Comparison

/** An attribute of an event, compared. */
export type EventTest = { attribute: string } & Comparison

/** Which events count: within a window that moves with the time, since an instant, before an instant. */
type Period = { within?: string; since?: string; until?: string }

/** How often somebody did something, or when for the first or the last time. */
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
/** What became of a message of a campaign. */
export type CampaignCondition = Period & { campaign: number; did: (typeof CAMPAIGN_ACTIONS)[number] }

export const DEVICE_FIELDS = ['os', 'os_version', 'model', 'app_version', 'app_build'] as const
/** What is so of at least one device. */
export type DeviceCondition = { device: (typeof DEVICE_FIELDS)[number] } & Comparison

/** A number from 0 to 99 that is always the same for a person and a text, compared. */
export type BucketCondition = { bucket: string } & Comparison

export type Condition =
  | AttributeCondition
  | EventCondition
  | ListCondition
  | SubscriptionCondition
  | CampaignCondition
  | DeviceCondition
  | BucketCondition

export type Rule = { all: Rule[] } | { any: Rule[] } | { none: Rule[] } | { not: Rule } | Condition

/** For the API reference. Only the outside is checked by it. */
export const RuleSchema = Type.Unsafe<Rule>({
  type: 'object',
  description:
    'Who is in the list: `all`, `any` or `none` of 1 to 50 rules, `not` of one, or a condition. ' +
    'A condition is about an `attribute`, an `event`, a `list`, a `subscription`, a `campaign`, a `device` or a `bucket`. ' +
    'Rules nest 8 levels deep and have at most 100 conditions.',
  examples: [{ all: [{ attribute: 'data.plan', is: 'pro' }, { event: 'purchase', at_least: 3, within: '30d' }, { not: { list: 12 } }] }],
})
