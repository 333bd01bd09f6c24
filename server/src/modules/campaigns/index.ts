/**
 * Campaigns and their templates. Owns `campaigns` and `campaign_templates`. A blast goes once to lists of people, a trigger
 * to a person whenever an event matches. Promises: a campaign changes its state only along the table in `states.ts`, what
 * goes out has a template, and nothing is sent on behalf of a campaign that was aborted or archived.
 */
export { campaignsOfList, findCampaigns, runningTriggers, templatesOf } from './queries.ts'
export { campaignRoutes } from './routes.ts'
export { chooseTemplate } from './templates/choose.ts'
export { renderContent } from './templates/content.ts'
export { triggered } from './triggered.ts'
