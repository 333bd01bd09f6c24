/**
 * The domains of projects: hosts of tracked links, and domains of senders. Owns `domains`. Promises: only a verified domain is used, and
 * it belongs to one project.
 */
export { hostOf, isForCustomDomain } from './hosts.ts'
export { findDomain, findVerifiedHost } from './queries.ts'
export { domainRoutes } from './routes.ts'
export { trackingBaseUrl } from './service.ts'
