/**
 * Subscription types and the subscription states of users. Owns `subscriptions`, `user_subscriptions`, `consent_entries`,
 * `confirmations`, `suppressions`, `suppression_keys`, `soft_bounces` and `page_themes`. A type belongs to one channel; a user without a stored state has
 * the default state of the type. Every change of a state adds a consent entry, and the last entry always has the current state. Users
 * change their states on hosted pages or by text message. Promises: a user who unsubscribed stays unsubscribed, also after a merge, until
 * the user or an API call subscribes them again; unsubscribing by a message concerns every user with its address; and a suppressed address
 * gets no messages.
 */
export { confirmationStore } from './confirmations/retention.ts'
export { isSubscribed } from './consent.ts'
export { consentsSince, type PastConsent } from './consents/history.queries.ts'
export { eraseSubscriptions, mergeSubscriptions, usersWithConsent } from './consents/queries.ts'
export { ConsentProof } from './consents/schema.ts'
export { linksOf, previewPreferencesUrl } from './links.ts'
export { consentPages } from './pages/consent-pages.ts'
export { findSubscription, holdSubscriptions, knownSubscriptions, subscriptionStates, typesWithState, usersWithAddress } from './queries.ts'
export { receiveText } from './receive-text.ts'
export { subscriptionRoutes } from './routes.ts'
export type { Consent, Subscription, SubscriptionChanges, SubscriptionRow } from './schema.ts'
export { createDefaultSubscriptions, updateSubscription } from './service.ts'
export { recordSignUps } from './sign-ups.ts'
export { subscribeNew, withdrawImported, writeByJourney } from './states.ts'
export { normalised as foldAddress } from './suppressions/addresses.ts'
export { type BouncedAddress, recordBounces } from './suppressions/bounces.ts'
export type { SuppressionReason } from './suppressions/schema.ts'
export {
  lockAddresses,
  suppress,
  suppressErased,
  suppressedAmong,
  suppressedSince,
  suppressionsOf,
  suppressionsWithSource,
} from './suppressions/service.ts'
export { unsubscribeBy } from './unsubscribe.ts'
export { subscriptionStores } from './user-data.queries.ts'
