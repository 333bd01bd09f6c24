/**
 * Everything that goes out. Owns `messages`, `send_attempts`, `message_counts`, `sandbox_messages` and `sending_policies`. An intent becomes
 * a row under a unique key before any provider is called; a sender claims it with a lease, decides, renders, writes down what is about to leave,
 * hands over, and settles it together with the news. Promises: nobody gets one cause twice; a message whose sender dies is sent once or honestly
 * unknown; every message ends in a state with its reason, and is counted in it at every instant; nothing goes to who is not subscribed or is
 * suppressed, or for a campaign that was stopped.
 */

export { type Counts, messageCountsOf } from './counts/counts.ts'
export { skipReasonFor } from './eligibility.ts'
export { messageJobs, SEND_TRANSACTIONAL } from './jobs.ts'
export {
  abortMessages,
  type Chunk,
  countInFlight,
  holdMessages,
  type IdRange,
  newMessageId,
  type Planned,
  planMessages,
  releaseMessages,
} from './messages.queries.ts'
export { messagesOf, Recipient, recipientListing, recipientsOf } from './recipients.queries.ts'
export { recordEngagement } from './reports/engagement.ts'
export { inboxVerbs } from './reports/inbox.ts'
export { callbackPages } from './reports/pages.ts'
export { messageRoutes } from './routes.ts'
export { BULK, MESSAGE_STATES, type MessageState, type Reason } from './schema.ts'
export { queueDepth as messageDepth } from './sending/queries.ts'
export { enqueueMessages, eraseMessages, mergeMessages } from './service.ts'
export { viewPages as messagePages } from './view/pages.ts'
