/**
 * Messages. Owns `messages`, `message_requests`, `message_contents`, `message_states`, `message_attachments`, `message_addresses`, `send_attempts`, `message_counts`, `message_days`, `rate_queues`, `sandbox_messages`, `quota_refusals` and `sending_policies`. An intent becomes a row under a
 * unique key before a provider is called. A sender claims the row with a lease, checks its eligibility, renders it, saves a send attempt
 * record, gives the message to the provider, and saves the send result together with its webhook events. Promises: a user never gets the
 * same cause twice; a message whose sender crashes is sent once or ends as `unknown`; every message ends in a final state with its reason
 * and is always counted in its current state; users who are not subscribed or are suppressed get nothing; a stopped campaign sends nothing.
 */

export { type CampaignKey, campaignsWithAddresses, forgetAddresses } from './addresses.queries.ts'
export { type Addressee, addressHash, secondCopies } from './addresses.ts'
export { type Counts, messageCountsOf } from './counts/counts.ts'
export { COUNTED_IN_DAYS, countsOfChannels, countsOfDays, type DayCounts } from './counts/days.queries.ts'
export { messageProgressOf, totalOf as messageTotal } from './counts/queries.ts'
export { cancelOfCampaign, countInFlight, hasEmailOf, releaseOfCampaign } from './delivery/control.ts'
export { deliverDue } from './delivery/deliver.ts'
export { createMailer } from './delivery/mailer.ts'
export { SENDING_STATES, skipReasonFor } from './eligibility.ts'
export { exclusionsOf } from './exclusions.ts'
export { outcomesOf, type PastOutcome } from './history.queries.ts'
export { messageJobs } from './jobs.ts'
export { messageKey } from './message-key.ts'
export {
  abortJourneyMessages,
  abortMessages,
  type Chunk,
  holdMessages,
  type IdRange,
  newMessageId,
  releaseMessages,
  skipJourneyMessages,
  statesByCause,
} from './messages.queries.ts'
export type { Planned } from './planned.queries.ts'
export { planMessages, withoutMessage } from './planning.ts'
export { latestMessage } from './reading/queries.ts'
export { messageOfCause, messagesOf, Recipient, recipientListing, recipientsOf } from './recipients.queries.ts'
export { recordEngagement } from './reports/engagement.ts'
export { inboundProtocol } from './reports/inbound.ts'
export { inboxVerbs } from './reports/inbox.ts'
export { receiveMailReport } from './reports/mail-reports.ts'
export { callbackPages } from './reports/pages.ts'
export { insertAttachments } from './requests/attachments.queries.ts'
export { findContents, findKeyed, insertContent } from './requests/queries.ts'
export { pathsWithoutValue, split as splitRedacted } from './requests/redact.ts'
export type { KeyedMessage, RequestedMessage } from './requests/schema.ts'
export { type AskedOutcome, askFor, createRequested, holdContents, sealValues, withdrawAsked } from './requests/service.ts'
export { renewResent } from './resend/queries.ts'
export { type FindNeeded, messageStore, messagesRemovedBefore, sandboxRows } from './retention.ts'
export { messageRoutes } from './routes.ts'
export { getSandboxMessage } from './sandbox/get-sandbox-message.ts'
export { latestInSandbox } from './sandbox/queries.ts'
export { releasedCopy } from './sandbox/released.ts'
export type { Release, ReleaseInput } from './sandbox/schema.ts'
export {
  BULK,
  MESSAGE_STATES,
  type MessageIntent,
  type MessageOrigin,
  type MessageState,
  PENDING_STATES,
  type Priority,
  type Reason,
  SEND_JOBS,
  SENT_STATES,
  TIMED,
  TRANSACTIONAL,
  type TriggeringEvent,
} from './schema.ts'
export { queueDepth as messageDepth } from './sending/queries.ts'
export { renderTest } from './sending/render-test.ts'
export { createSender, sendDueMessages } from './sending/sender.ts'
export { emailsOf, enqueueMessages, eraseMessages, eraseSubmissions, mergeMessages } from './service.ts'
export { submissionProtocol } from './submission/protocol.ts'
export { messageStores } from './user-data.queries.ts'
export { viewPages as messagePages } from './view/pages.ts'
export { findRecipient } from './view/queries.ts'
