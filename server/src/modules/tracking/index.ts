/**
 * Opens and clicks of messages. Owns `links`, `link_clicks` and `campaign_opens`. Links are
 * found in templates before Liquid is rendered, and get a signed URL in each message. Promises: a link only redirects to its own
 * target; a redirect does not wait for the database; bots are not counted as users.
 */
export { createEngagementBuffer, type EngagementBuffer } from './engagement/buffer.ts'
export { linksOfCampaign, saveLinks } from './links/links.ts'
export { eraseClicks, mergeClicks } from './links/queries.ts'
export { clickRows } from './links/retention.ts'
export { siteOf } from './links/site-of.ts'
export { trackingPages } from './public-pages.ts'
export { CampaignLinks } from './schema.ts'
export { numberLinks } from './tasks.ts'
export { targetOf, trackerOf } from './tracker.ts'
export { trackingStores } from './user-data.queries.ts'
