import { mailQueueRoutes } from './delivery/routes.ts'
import { policyRoutes } from './policy/routes.ts'
import { readingRoutes } from './reading/routes.ts'
import { resendRoutes } from './resend/routes.ts'
import type { TaggedWith } from './sandbox/list-sandbox-messages.ts'
import { type ReleaseSandboxMessage, sandboxRoutes } from './sandbox/routes.ts'
import type { FindSendingCampaigns } from './sending/find-sending-campaigns.ts'

type Verbs = { findSendingCampaigns: FindSendingCampaigns; taggedWith: TaggedWith; releaseSandboxMessage: ReleaseSandboxMessage }

export const messageRoutes = ({ findSendingCampaigns, taggedWith, releaseSandboxMessage: release }: Verbs) => [
  ...readingRoutes(findSendingCampaigns),
  ...resendRoutes(findSendingCampaigns),
  ...sandboxRoutes({ taggedWith, release }),
  ...policyRoutes,
  ...mailQueueRoutes,
]
