/**
 * Campaigns. Owns `campaigns`, `campaign_audiences` and `campaign_preflights`. A blast goes
 * once to lists of people, a trigger to a person whenever an event matches. Promises: a campaign changes its state only along the table
 * in `states.ts`; what goes out has a template; everybody in the audience of a blast becomes one message, those who get nothing with the
 * reason, whatever crashes on the way; a campaign is finished when all its messages are; and nothing is handed over on behalf of one
 * that was aborted, paused or archived.
 */
export { campaignJobs } from './jobs.ts'
export { campaignsUsingList, findCampaigns, findSendingCampaigns } from './queries.ts'
export { campaignRoutes } from './routes.ts'
export { matchTriggers } from './triggers.ts'
