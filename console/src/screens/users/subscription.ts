import type { components } from '@carillon/sdk'

/** A subscription type with the state of a user. */
export type Subscription = components['schemas']['UserSubscription']

/** The states as the API numbers them. */
export const STATES = ['unsubscribed', 'subscribed', 'confirmed'] as const

/** What reaches the user depends on the subscriptions. */
export const REACHABILITY = '/api/client/users/{userId}/reachability'
