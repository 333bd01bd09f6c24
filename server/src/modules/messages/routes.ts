import { mailQueueRoutes } from './delivery/routes.ts'
import { policyRoutes } from './policy/routes.ts'
import { readingRoutes } from './reading/routes.ts'
import { resendRoutes } from './resend/routes.ts'
import { sandboxRoutes } from './sandbox/routes.ts'
import type { FindSendingCampaigns } from './sending/find-sending-campaigns.ts'

export const messageRoutes = ({ findSendingCampaigns }: { findSendingCampaigns: FindSendingCampaigns }) => [
  ...readingRoutes(findSendingCampaigns),
  ...resendRoutes(findSendingCampaigns),
  ...sandboxRoutes,
  ...policyRoutes,
  ...mailQueueRoutes,
]
