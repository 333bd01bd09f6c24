/**
 * Campaigns. Owns `campaigns`, `campaign_audiences`, `campaign_preflights` and `preflight_addresses`. A blast is sent once to the users of its lists, a trigger
 * to a user whenever an event matches. Promises: a campaign changes its state only by the transitions in `states.ts`; every campaign
 * that sends has a template; every user in the audience of a blast gets one message record, skipped users with the reason, also when a
 * process crashes; a campaign is finished when all its messages are in a final state; and no message of an aborted, paused or archived
 * campaign is given to a provider.
 */
export { adaptDeadline } from './direct/targets.ts'
export { campaignJobs } from './jobs.ts'
export { reportBlasts } from './progress/for-operators.ts'
export { blastsNotOver } from './progress/queries.ts'
export {
  archiveCampaigns,
  campaignListing,
  campaignNames,
  campaignsTagged,
  countCampaigns,
  findCampaignSubscriptions,
  findCampaigns,
  findPaused as findPausedCampaigns,
  findSendingCampaigns,
} from './queries.ts'
export { campaignsUsingList, referencedCampaigns } from './references.ts'
export { recordOverBudget } from './render-budget.ts'
export { campaignRoutes } from './routes.ts'
export { archiveCampaign, campaignsInProgress, listCampaigns } from './service.ts'
export { isSendable, reasonAgainst, renderSimulated, type SimulatedCampaign, simulatedCampaigns } from './simulated.ts'
export { findTriggers, journeyIntents, matchTriggers, type TriggersOf } from './triggers.ts'
export { progressOf } from './watched.ts'
