/**
 * Webhook events: the 27 event types of the specification, and the stored events. Owns `webhook_events` and
 * `webhook_event_subscriptions`. Promises: an event is committed in the transaction that made it true; it is stored only for
 * endpoints that were active and subscribed at that moment; and its JSON is the same whenever it is sent.
 */

export type { WebhookEvent } from './event-kind.ts'
export { findWebhookEvents, purgeWebhookEvents, type StoredWebhookEvent, subscribe, takeUndispatched, unsubscribe } from './queries.ts'
export { EVENT_TYPES, emit, storeTest } from './service.ts'
export * as webhookEvents from './types/index.ts'
