/** Every endpoint, one line for each module. */

import type { PublicPage } from './infra/http/public-page.ts'
import type { Route } from './infra/http/route.ts'
import type { Appender } from './infra/queue/append.ts'
import type { Ctx } from './infra/runtime/ctx.ts'
import { activityRoutes } from './modules/activity/index.ts'
import { apiLogRoutes } from './modules/api-log/index.ts'
import { auditRoutes } from './modules/audit/index.ts'
import { campaignRoutes, findCampaignSubscriptions, findSendingCampaigns, referencedCampaigns } from './modules/campaigns/index.ts'
import { environmentsOf, hasProvider, providerRoutes } from './modules/channels/index.ts'
import { domainRoutes } from './modules/domains/index.ts'
import { eventRoutes } from './modules/events/index.ts'
import { eraseAnonymousRows, importRoutes } from './modules/imports/index.ts'
import { type InboxStreams, inboxRoutes } from './modules/inbox/index.ts'
import { ingestRoutes } from './modules/ingest/index.ts'
import { journeyRoutes, journeysSending, moveSchedules } from './modules/journeys/index.ts'
import { keyRoutes } from './modules/keys/index.ts'
import { listRoutes } from './modules/lists/index.ts'
import { memberRoutes, readableProjects } from './modules/members/index.ts'
import { callbackPages, findRecipient, inboxVerbs, messagePages, messageRoutes, recordEngagement } from './modules/messages/index.ts'
import { mailSiteRoutes, tlsRoutes } from './modules/mta/index.ts'
import { overviewRoutes } from './modules/overview/index.ts'
import { projectRoutes } from './modules/projects/index.ts'
import { ruleRoutes } from './modules/rules/index.ts'
import { consentPages, subscriptionRoutes, suppressErased, suppressionsOf } from './modules/subscriptions/index.ts'
import { systemRoutes } from './modules/system/index.ts'
import { toolRoutes } from './modules/tools/index.ts'
import { createEngagementBuffer, type EngagementBuffer, trackingPages } from './modules/tracking/index.ts'
import { userRoutes } from './modules/users/index.ts'
import { webhookRoutes } from './modules/webhooks/index.ts'
import { deleteProject, sizeOf } from './project-deletion.ts'
import { queueDepthsOf } from './queue-depths.ts'
import { releaseSandboxMessage } from './sandbox-release.ts'
import { onUsersSaved } from './user-changes.ts'
import { exportUser } from './user-data.ts'
import { archiveCampaign, archiveList, createProject, saveUsers, stepReferenceFaults, taggedWith, updateSubscription } from './verbs.ts'

export { openApiLog } from './modules/api-log/index.ts'

/** Parts that the endpoints of a process share. */
export type Shared = { appender: Appender; listening: InboxStreams; engagementBuffer: EngagementBuffer }

export const allRoutes = ({ appender, listening }: Pick<Shared, 'appender' | 'listening'>): Route[] => [
  ...projectRoutes({ createProject, hasProvider, readableProjects, onTimeZone: moveSchedules, deleteProject, sizeOf }),
  ...keyRoutes,
  ...memberRoutes({ environmentsOf }),
  ...userRoutes({ saveUsers, suppressionsOf, suppressErased, eraseAnonymousRows, exportUser }),
  ...ingestRoutes(appender),
  ...eventRoutes,
  ...subscriptionRoutes({ updateSubscription }),
  ...listRoutes({ archiveList, referencedCampaigns }),
  ...importRoutes,
  ...ruleRoutes,
  ...campaignRoutes({ archiveCampaign, onUsersSaved, journeysSending }),
  ...journeyRoutes({ stepReferenceFaults }),
  ...activityRoutes,
  ...auditRoutes,
  ...apiLogRoutes,
  ...overviewRoutes,
  ...messageRoutes({ findSendingCampaigns, taggedWith, releaseSandboxMessage }),
  ...providerRoutes,
  ...domainRoutes(),
  ...tlsRoutes,
  ...inboxRoutes(listening, inboxVerbs),
  ...mailSiteRoutes,
  ...webhookRoutes,
  ...toolRoutes,
  ...systemRoutes({ queueDepthsOf }),
]

/** Every endpoint that needs no key. */
export const allPages = ({ engagementBuffer }: Pick<Shared, 'engagementBuffer'>): PublicPage[] => [
  ...trackingPages(engagementBuffer),
  ...consentPages({ findRecipient }),
  ...messagePages(findSendingCampaigns),
  ...callbackPages(findCampaignSubscriptions),
]

/** Opens the buffer of opens and clicks. Tracking counts all of them; those of users are also recorded with their messages. */
export const openEngagementBuffer = (ctx: Ctx): EngagementBuffer =>
  createEngagementBuffer(ctx, (ctx, engagements) =>
    recordEngagement(
      ctx,
      engagements
        .filter(({ isBot }) => !isBot)
        .map(({ message_id, kind, at, url }) => ({
          messageId: message_id,
          what: kind === 'open' ? 'opened' : 'clicked',
          at,
          ...(url !== null && { url }),
        })),
    ),
  )
