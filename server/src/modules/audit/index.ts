/**
 * The audit log: who changed which object of the configuration, when, by which way, and its members before and after. Owns `audit_entries`
 * and `audit_chains`. Promises: an entry exists exactly if its write was committed; it contains no secret and no profile of a user; and the
 * entries of a project are a chain of hashes, so that one that was changed or removed is noticed.
 */
export { auditJobs } from './jobs.ts'
export { auditRoutes } from './routes.ts'
export { recordAction, recordWrite } from './service.ts'
