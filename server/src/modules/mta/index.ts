/**
 * The mail engine. Owns `mail_messages`, `mail_recipients`, `mail_pauses`, `mail_sites`, `mail_site_hours`, `mail_processes`, `tls_results`
 * and `tls_reports`. Emails wait in its queue, one row for each recipient, until they are delivered to the mail hosts of their domains, are
 * refused, or expire. It knows how much a mail site takes and when an email is tried again, counts deliveries with and without TLS, makes
 * the return paths by which what mail hosts report later is matched to its recipient, and reads such reports. Promises: a recipient is
 * delivered to by one process at a time, and again only if the process died or the host did not reply; the content of an email is kept
 * while a recipient is pending; no mail site gets more than its limits; a return path shows which recipient of which email it is of, and
 * only this server can make one.
 */

export { lastDeliveryBy, recordSiteComplaint } from './mail-site-days.ts'
export { mailSiteRoutes } from './mail-site-routes.ts'
export type { SiteResults } from './mail-sites.queries.ts'
export { createProcessShare, projectLimitsOf, recordSiteResults } from './mail-sites.ts'
export { ownAddressesOf } from './own-addresses.ts'
export { deflateContent, inflateContent, type StoredContent } from './queue/content.ts'
export {
  claimToCancel,
  countClaimed,
  deletePause,
  eraseMail,
  hasUnfinishedMail,
  insertPause,
  type MailFilter,
  makeDue,
  releaseHeld,
} from './queue/control.queries.ts'
export { enqueueMail } from './queue/enqueue.ts'
export { eraseSubmittedMail } from './queue/erase-submitted.ts'
export { findPauses, type Pause } from './queue/pauses.queries.ts'
export {
  type CompletedMail,
  claimMail,
  completeMails,
  contentsOf,
  findMails,
  lockMails,
  nextHeldExpiry,
  nextMailAt,
  nextMailLeaseEnd,
  projectsWithMail,
  releaseExpired,
  releaseMailLeases,
  renewMailLeases,
  saveMailResults,
} from './queue/queries.ts'
export {
  attemptsOf,
  type ListedRecipient,
  listRecipients,
  mailDepth,
  mailListing,
  mailsToSite,
  untriedBulk,
  untriedByCampaign,
} from './queue/reading.queries.ts'
export { deleteMail } from './queue/retention.queries.ts'
export { mailStore } from './queue/retention.ts'
export {
  type ClaimedRecipient,
  DELIVER_JOBS,
  type MailRow,
  type NewMail,
  type PastAttempt,
  type RecipientResult,
  type RequestedReports,
} from './queue/schema.ts'
export { exportMail } from './queue/user-data.queries.ts'
export { deliveriesByRecipient, statusIn, worstOf } from './reports/delivery-status.ts'
export { lockReportedRecipients, type ReportedRecipient, saveBounces } from './reports/queries.ts'
export type { Feedback, MailReport, ReportedDelivery } from './reports/schema.ts'
export { type ReturnPath, readReturnPath, returnPathFor } from './return-path.ts'
export { type Classification, classificationOf, classificationOfExpiry } from './shaping/classifications.ts'
export { classify } from './shaping/classify.ts'
export { createProjectLimiter, type OwnLimits, type ProjectLimiter } from './shaping/project-limits.ts'
export { expiresAt, isDelayNoticeDue, type MailPriority, nextAttempt } from './shaping/retries.ts'
export { createScheduler, type Scheduler } from './shaping/scheduler.ts'
export { siteEventsOf } from './shaping/site-events.ts'
export { type Site, siteOf } from './shaping/sites.ts'
export { tlsJobs } from './tls-results/jobs.ts'
export { addTlsCounts } from './tls-results/queries.ts'
export {
  claimTlsPosts,
  countsToReport,
  insertTlsReport,
  type ReportedCount,
  saveTlsPosts,
  type TlsReportKey,
  type TlsReportPosts,
  unreportedDomains,
} from './tls-results/reports.queries.ts'
export { type TlsCount, tlsCountsOf } from './tls-results/results.ts'
export { tlsRoutes } from './tls-results/routes.ts'
