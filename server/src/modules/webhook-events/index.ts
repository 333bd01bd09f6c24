/**
 * What happened, for outsiders: the 27 types of event of the specification, and the news of them. Owns `webhook_events` and
 * `webhook_event_subscriptions`. Promises: news commits together with what it tells; it is kept only for endpoints that were
 * active and subscribed at that moment; and its text never changes, however often it is sent.
 */

export type { WebhookEvent } from './event-kind.ts'
export { findSignals, purgeWebhookEvents, type StoredWebhookEvent, subscribe, takeUndispatched, unsubscribe } from './queries.ts'
export { EVENT_TYPES, emit, storeTest } from './service.ts'
export * as webhookEvents from './types/index.ts'
