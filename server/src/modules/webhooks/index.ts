/**
 * Webhook endpoints and the delivery of signals to them. Owns `webhook_endpoints`, `webhook_secrets`, `webhook_deliveries`
 * and `webhook_attempts`. Promises: an event reaches every endpoint that was active and subscribed when it happened, at
 * least once and in no order, signed with the secrets that are live at that moment; a slow endpoint keeps nobody waiting;
 * and one that fails for days is suspended.
 */
export { webhookJobs } from './jobs.ts'
export { countByStatus as countEndpoints, queueDepth as webhookDepth } from './queries.ts'
export { webhookRoutes } from './routes.ts'
export { verifySignature } from './signature.ts'
