/**
 * Everything that goes out. Owns `messages` and `sandbox_messages`. An intent becomes a row under a unique key before any
 * provider is called; a sender claims it with a lease, decides, renders, hands over, and settles it together with the news.
 * Promises: nobody gets one cause twice; a message whose sender dies is sent once or honestly unknown; every message ends
 * in a state with its reason; nothing goes to who is not subscribed, or for a campaign that was stopped.
 */
export { messageJobs } from './jobs.ts'
export { queueDepth as messageDepth } from './queries.ts'
export { messageRoutes } from './routes.ts'
export { cancelCampaign, deliveryOf, enqueue, eraseMessages, mergeMessages } from './service.ts'
