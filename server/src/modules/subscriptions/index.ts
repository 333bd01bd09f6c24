/**
 * Subscription types and who is subscribed. Owns `subscriptions`, `user_subscriptions`, `consent_entries`, `confirmations`,
 * `suppressions`, `suppression_keys` and `page_themes`.
 * A type belongs to one channel; where nothing is stored for a person, the type's default state holds. Every change is an entry of
 * the ledger, and the last entry is what holds. People decide on pages that need no key, or by text message.
 * Promises: a person who unsubscribed stays so, whatever merges happen, until that person or somebody in charge says otherwise;
 * a suppressed address gets nothing.
 */
export { isSubscribed } from './consent.ts'
export { eraseSubscriptions, mergeSubscriptions } from './consents/queries.ts'
export { linksOf } from './links.ts'
export { consentPages } from './pages/consent-pages.ts'
export { findSubscription, knownSubscriptions, subscriptionStates } from './queries.ts'
export { receiveText } from './receive-text.ts'
export { subscriptionRoutes } from './routes.ts'
export type { Consent, Subscription, SubscriptionChanges } from './schema.ts'
export { createDefaultSubscriptions, updateSubscription } from './service.ts'
export { subscribeNew, unsubscribeBy } from './states.ts'
export type { SuppressionReason } from './suppressions/schema.ts'
export { suppress, suppressErased, suppressedAmong } from './suppressions/service.ts'
