/**
 * What callers send to be applied later: events and queued user updates. Owns no table; accepted requests wait in the ingest queue
 * of `infra/queue`. Promises: a request is checked as a whole, and answered only after it is stored durably; what is stored and
 * cannot be read again is parked with its reason.
 */
export { type Item, readRequest } from './read.ts'
export { ingestRoutes } from './routes.ts'
