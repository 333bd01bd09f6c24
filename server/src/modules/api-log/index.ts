/**
 * The API log: the last requests of each project, for developers who look for what their program did. Owns `api_requests`. Promises: it
 * has no secret and nothing personal of a user; it is bounded for each project; and no request waits for it.
 */
export { openApiLog } from './api-log.ts'
export { latestRequest } from './queries.ts'
export { requestStore } from './retention.ts'
export { apiLogRoutes } from './routes.ts'
