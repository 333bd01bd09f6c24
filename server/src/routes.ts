/** Every endpoint, one line a module. */

import type { PublicPage } from './infra/http/public-page.ts'
import type { Route } from './infra/http/route.ts'
import type { Appender } from './infra/queue/queue.ts'
import type { Ctx } from './infra/runtime/ctx.ts'
import { campaignRoutes, campaignsUsingList, findCampaigns, findSendingCampaigns, requireCampaign } from './modules/campaigns/index.ts'
import { findProvider, hasProvider, providerPages, providerRoutes } from './modules/channels/index.ts'
import { eventRoutes } from './modules/events/index.ts'
import { importRoutes } from './modules/imports/index.ts'
import { type InboxStreams, inboxRoutes } from './modules/inbox/index.ts'
import { ingestRoutes } from './modules/ingest/index.ts'
import { journeyRoutes } from './modules/journeys/index.ts'
import { keyRoutes } from './modules/keys/index.ts'
import { listRoutes, rebuildListsDependingOn } from './modules/lists/index.ts'
import { createReporting, messagePages, messageRoutes, recordEngagement } from './modules/messages/index.ts'
import { projectRoutes } from './modules/projects/index.ts'
import { consentPages, createDefaultSubscriptions, subscriptionRoutes } from './modules/subscriptions/index.ts'
import { toolRoutes } from './modules/tools/index.ts'
import { createEngagementBuffer, type EngagementBuffer, findDomain, trackingPages, trackingRoutes } from './modules/tracking/index.ts'
import { findMergedInto, userRoutes } from './modules/users/index.ts'
import { webhookRoutes } from './modules/webhooks/index.ts'
import { onUsersChanged } from './pipeline.ts'

/** What endpoints of one process share. */
export type Shared = { appender: Appender; listening: InboxStreams; recorder: EngagementBuffer }

export const allRoutes = ({ appender, listening }: Pick<Shared, 'appender' | 'listening'>): Route[] => [
  ...projectRoutes(createDefaultSubscriptions, hasProvider),
  ...keyRoutes,
  ...userRoutes(onUsersChanged),
  ...ingestRoutes(appender),
  ...eventRoutes,
  ...subscriptionRoutes((ctx, id) => rebuildListsDependingOn(ctx, `subscription:${id}`)),
  ...listRoutes(async (ctx, id) => (await campaignsUsingList(ctx, id)).map(({ name }) => name), findCampaigns),
  ...importRoutes,
  ...campaignRoutes({ findProvider, findDomain }),
  ...journeyRoutes,
  ...messageRoutes,
  ...providerRoutes,
  ...trackingRoutes({ requireCampaign }),
  ...inboxRoutes(listening, (ctx, seen) =>
    recordEngagement(
      ctx,
      seen.map(({ message_id, what, at }) => ({ messageId: message_id, what, at })),
    ),
  ),
  ...webhookRoutes,
  ...toolRoutes,
]

/** Every endpoint that asks for no key. */
export const allPages = ({ recorder }: Pick<Shared, 'recorder'>): PublicPage[] => [
  ...trackingPages(recorder),
  ...consentPages,
  ...messagePages(findSendingCampaigns),
  ...providerPages(createReporting(findSendingCampaigns)),
]

/** What people do with messages, once it is seen. What machines do counts for nothing here. */
export const openEngagementBuffer = (ctx: Ctx): EngagementBuffer =>
  createEngagementBuffer(ctx, {
    mergedIntoOf: findMergedInto,
    whenSeen: (ctx, seen) =>
      recordEngagement(
        ctx,
        seen
          .filter(({ isMachine }) => !isMachine)
          .map(({ message_id, kind, at, url }) => ({
            messageId: message_id,
            what: kind === 'open' ? 'opened' : 'clicked',
            at,
            ...(url !== null && { url }),
          })),
      ),
  })
