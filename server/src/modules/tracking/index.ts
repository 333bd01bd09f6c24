/**
 * Who opened a message and followed its links, and the hosts that links lead to. Owns `links`, `link_clicks`, `campaign_opens`
 * and `domains`. Links are found in templates before Liquid runs, and get a signed address when a message is made.
 * Promises: nobody is led where the sender did not mean to lead them, a redirect waits for nothing, and what machines do is not
 * taken for people.
 */
export { findDomain } from './domains/queries.ts'
export { trackingBaseUrl } from './domains/service.ts'
export { createEngagementBuffer, type EngagementBuffer } from './engagement/buffer.ts'
export { linksOfCampaign, saveLinks } from './links/links.ts'
export { eraseClicks, mergeClicks } from './links/queries.ts'
export { trackingPages } from './public-pages.ts'
export { numberLinks, wrapLinks } from './rewrite/own-attributes.ts'
export { addPixel } from './rewrite/pixel.ts'
export { trackingRoutes } from './routes.ts'
export { CampaignLinks } from './schema.ts'
export { type Tracker, trackerOf } from './tracker.ts'
