/**
 * Inboxes of messages in the app. Owns `inbox_messages` and `inbox_counters`. Every change of a message takes the next number of its
 * user, and a stream sends all changes after the number that its client has.
 * Promises: a message is in an inbox once; the number of unread messages is exact; a client that reconnects, to any process, misses no
 * change, even if its user was merged.
 */
export { deliverToInbox, eraseInbox, mergeInbox } from './contents.ts'
export { inboxJobs } from './jobs.ts'
export { createInboxStreams, type InboxStreams } from './live/streams.ts'
export { findInboxContent } from './queries.ts'
export { inboxRoutes } from './routes.ts'
export type { InboxEngagement, ReadStateChanges } from './schema.ts'
export { readAll, updateReadState } from './service.ts'
export { inboxStores } from './user-data.queries.ts'
