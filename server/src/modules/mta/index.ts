/**
 * The mail engine. Owns `tls_results`, `mail_sites`, `mail_site_hours` and `mail_processes`. It knows how much a destination takes and when
 * an email is tried again, counts deliveries with and without TLS, makes return paths of the emails that it delivers, by which what
 * destinations report later is matched to its recipient, and reads such reports. Promises: no destination gets more than its limits; a return path
 * shows which recipient of which email it is of, and only this server can make one.
 */
export { mailSiteRoutes } from './mail-site-routes.ts'
export { createProcessShare, type ProcessShare, recordSiteResults } from './mail-sites.ts'
export { deliveryFor } from './reports/delivery-status.ts'
export type { Feedback, MailReport, ReportedDelivery } from './reports/schema.ts'
export { type ReturnPath, readReturnPath, returnPathFor } from './return-path.ts'
export { type Classification, classificationOf, classificationOfExpiry, LABELS, type Label } from './shaping/classifications.ts'
export { classify } from './shaping/classify.ts'
export { expiresAt, isDelayNoticeDue, type MailPriority, nextAttempt, type RetrySchedule } from './shaping/retries.ts'
export { createScheduler, type Scheduler, siteEventOf } from './shaping/scheduler.ts'
export { type Site, siteOf } from './shaping/sites.ts'
export { tlsJobs } from './tls-results/jobs.ts'
export { addTlsCounts } from './tls-results/queries.ts'
export { type TlsCount, tlsCountsOf } from './tls-results/results.ts'
export { tlsRoutes } from './tls-results/routes.ts'
