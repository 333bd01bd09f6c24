/**
 * What people find in the app. Owns `inbox_messages` and `inbox_counters`. Every change of a message takes the next number of
 * its person, and whoever listens is told what is beyond the number they have.
 * Promises: a message is in an inbox once; how many are unread is exact; a listener who comes back misses nothing, whichever
 * process is asked, also when two people turned out to be one.
 */
export { deliverToInbox, eraseInbox, mergeInbox } from './contents.ts'
export { inboxJobs } from './jobs.ts'
export { createInboxStreams, type InboxStreams } from './live/streams.ts'
export { inboxRoutes } from './routes.ts'
export type { InboxEngagement, MarkChanges } from './schema.ts'
export { markMessage, readAll } from './service.ts'
