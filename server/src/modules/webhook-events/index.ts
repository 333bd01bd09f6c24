/**
 * What happened, for outsiders: the 27 types of event of the specification, and the news of them. Owns `signals` and
 * `signal_subscribers`. Promises: news commits together with what it tells; it is kept only for endpoints that were
 * active and subscribed at that moment; and its text never changes, however often it is sent.
 */

export type { Happened } from './event-kind.ts'
export { findSignals, purgeSignals, type StoredSignal, subscribe, takeUndispatched, unsubscribe } from './queries.ts'
export { EVENT_TYPES, emit, storeTest } from './service.ts'
export * as signals from './types/index.ts'
