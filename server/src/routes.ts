/** Every endpoint, one line a module. */
import type { Route } from './infra/route.ts'
import type { Appender } from './infra/stream.ts'
import { campaignRoutes, campaignsOfList, findCampaigns } from './modules/campaigns/index.ts'
import { acceptUpserts, eventRoutes } from './modules/events/index.ts'
import { importRoutes } from './modules/imports/index.ts'
import { journeyRoutes } from './modules/journeys/index.ts'
import { keyRoutes } from './modules/keys/index.ts'
import { cancelCampaign, deliveryOf, messageRoutes } from './modules/messages/index.ts'
import { projectRoutes } from './modules/projects/index.ts'
import { rebuildListsMentioning, segmentRoutes } from './modules/segments/index.ts'
import { createDefaultSubscriptions, subscriptionRoutes } from './modules/subscriptions/index.ts'
import { toolRoutes } from './modules/tools/index.ts'
import { userRoutes } from './modules/users/index.ts'
import { webhookRoutes } from './modules/webhooks/index.ts'
import { whenPeopleChange } from './pipeline.ts'

export const allRoutes = (appender: Appender): Route[] => [
  ...projectRoutes(createDefaultSubscriptions),
  ...keyRoutes,
  ...userRoutes(whenPeopleChange, (ctx, items, body, requestId) => acceptUpserts(ctx, appender, items, body, requestId)),
  ...eventRoutes(appender),
  ...subscriptionRoutes((ctx, id) => rebuildListsMentioning(ctx, `subscription:${id}`)),
  ...segmentRoutes(async (ctx, id) => (await campaignsOfList(ctx, id)).map(({ name }) => name), findCampaigns),
  ...importRoutes,
  ...campaignRoutes(cancelCampaign, deliveryOf),
  ...journeyRoutes,
  ...messageRoutes,
  ...webhookRoutes,
  ...toolRoutes,
]
