/**
 * Requests that are applied later: events and queued user updates. Owns no table: accepted requests wait in the ingest queue of
 * `infra/queue`. Promises: a request is accepted or refused as a whole; the reply is sent only after it is stored durably; a stored
 * item that cannot be read is parked with the reason.
 */
export { itemsOfKept, type KnownUsers, newEventsOf, parkedOf, queuedChangesOf, requestReader, updatesOf, usersOfItems } from './identify.ts'
export type { Item } from './read.ts'
export { finishRepeats, withoutRepeats } from './repeats.ts'
export { ingestRoutes } from './routes.ts'
export { concernedUsers, wavesOf } from './waves.ts'
