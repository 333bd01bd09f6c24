/**
 * The domains of projects: hosts of tracked links, and domains of senders. Owns `domains`, `dkim_keys`, `warm_ups` and `warm_up_sites`.
 * Promises: only a verified host is used, and it belongs to one project; a key signs only while its record is published.
 */
export { hostOf, isForCustomDomain } from './hosts.ts'
export { domainJobs } from './jobs.ts'
export { domainListing, findDomain, findVerifiedHost } from './queries.ts'
export { domainRoutes } from './routes.ts'
export { fromDomainOf, type SendingDomain, sendingDomainOf, verifiedSender } from './sending/senders.ts'
export { listDomains, trackingBaseUrl } from './service.ts'
export { countWarmUp, type WarmUpOutcome, type WarmUpTarget, warmUpAllowance } from './warm-up/allowance.ts'
