/**
 * The domains of projects: hosts of tracked links, and domains of senders. Owns `domains` and `dkim_keys`.
 * Promises: only a verified host is used, and it belongs to one project; a key signs only while its record is published.
 */
export { hostOf, isForCustomDomain } from './hosts.ts'
export { domainJobs } from './jobs.ts'
export { findDomain, findVerifiedHost } from './queries.ts'
export { domainRoutes } from './routes.ts'
export { type SendingDomain, sendingDomainOf } from './sending/senders.ts'
export { trackingBaseUrl } from './service.ts'
