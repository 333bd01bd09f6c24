/**
 * Webhook endpoints and the delivery of webhook events. Owns `webhook_endpoints`, `webhook_secrets`, `webhook_deliveries`,
 * `webhook_attempts`, `webhook_hours` and `webhook_replays`. Promises: an event is delivered to every endpoint that was active and subscribed when it occurred, at least
 * once and in any order, signed with the secrets that are valid when it is sent; a slow endpoint does not delay the others; an
 * endpoint that fails for days is suspended.
 */

export { queueDepth as webhookDepth } from './deliveries.queries.ts'
export { countByStatus as countEndpoints, endpointListing, findDisabled as findDisabledEndpoints } from './endpoints.queries.ts'
export { webhookJobs } from './jobs.ts'
export { webhookRoutes } from './routes.ts'
export { deleteEveryEndpoint, listEndpoints } from './service.ts'
export { verifySignature } from './signature.ts'
