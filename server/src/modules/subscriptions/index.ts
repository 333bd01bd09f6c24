/**
 * Subscription types and who is subscribed. Owns `subscriptions` and `user_subscriptions`.
 * A type belongs to one channel; where nothing is stored for a person, the type's default state holds.
 * Promises: a person who unsubscribed stays so, whatever merges happen, until that person or somebody in charge says otherwise.
 */
export { eraseSubscriptions, findSubscription, knownSubscriptions, mergeSubscriptions, subscriptionStates } from './queries.ts'
export { subscriptionRoutes } from './routes.ts'
export type { SubscriptionState } from './schema.ts'
export { createDefaultSubscriptions, subscribeWithoutState } from './service.ts'
