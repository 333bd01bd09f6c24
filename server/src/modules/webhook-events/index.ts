/**
 * Webhook events: the 27 event types of the specification, the stored events, and how far each endpoint has got them. Owns
 * `webhook_events`, `webhook_event_subscriptions`, `webhook_versions` and `webhook_cursors`. Promises: an event is committed in the
 * transaction that made it true; it is for the endpoints that were active and subscribed at that moment; a cursor passes no event that
 * it has not returned; and the JSON of an event is the same whenever it is sent.
 */

export {
  type Cursor,
  cursorsDue,
  eventsAfter,
  eventsWithin,
  type Look,
  lockVersions,
  lookNow,
  type NextEvent,
  nextDispatchAt,
  nextPosition,
  numberEvents,
  type PastEvent,
  projectsWithEvents,
  rangesToNumber,
  saveCursors,
  transactionsStoring,
} from './cursors.queries.ts'
export type { WebhookEvent } from './event-kind.ts'
export { findWebhookEvents, purgeWebhookEvents, type StoredWebhookEvent } from './queries.ts'
export { DISPATCH, EVENT_TYPES, emit, positionAt, storeTest, wantedTypes } from './service.ts'
export { purgeSubscriptions } from './subscriptions.queries.ts'
export { subscribe, unsubscribe } from './subscriptions.ts'
export * as webhookEvents from './types/index.ts'
