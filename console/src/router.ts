/** Every screen, one line for each area. */
import { createRouter } from '@tanstack/react-router'
import { accountRoutes } from './screens/account/routes.ts'
import { apiLogRoutes } from './screens/api-log/routes.ts'
import { auditRoutes } from './screens/audit/routes.ts'
import { campaignRoutes } from './screens/campaigns/routes.ts'
import { domainRoutes } from './screens/domains/routes.ts'
import { homeRoutes } from './screens/home/routes.ts'
import { importRoutes } from './screens/imports/routes.ts'
import { journeyRoutes } from './screens/journeys/routes.ts'
import { keyRoutes } from './screens/keys/routes.ts'
import { listRoutes } from './screens/lists/routes.ts'
import { mailRoutes } from './screens/mail/routes.ts'
import { messageRoutes } from './screens/messages/routes.ts'
import { providerRoutes } from './screens/providers/routes.ts'
import { reportRoutes } from './screens/reports/routes.ts'
import { inboxRoutes } from './screens/sandbox/routes.ts'
import { schemaRoutes } from './screens/schema/routes.ts'
import { settingsRoutes } from './screens/settings/routes.ts'
import { signInRoutes } from './screens/sign-in/routes.ts'
import { subscriptionRoutes } from './screens/subscriptions/routes.ts'
import { suppressionRoutes } from './screens/suppressions/routes.ts'
import { systemRoutes } from './screens/system/routes.ts'
import { teamRoutes } from './screens/team/routes.ts'
import { templateRoutes } from './screens/templates/routes.ts'
import { toolRoutes } from './screens/tools/routes.ts'
import { userRoutes } from './screens/users/routes.ts'
import { webhookRoutes } from './screens/webhooks/routes.ts'
import { accountRoute, memberRoute, projectRoute, rootRoute, startRoute } from './shell/routes.tsx'

const tree = rootRoute.addChildren([
  ...signInRoutes,
  memberRoute.addChildren([
    startRoute,
    accountRoute.addChildren([...accountRoutes]),
    projectRoute.addChildren([
      ...homeRoutes,
      ...campaignRoutes,
      ...journeyRoutes,
      ...templateRoutes,
      ...userRoutes,
      ...importRoutes,
      ...listRoutes,
      ...messageRoutes,
      ...reportRoutes,
      ...subscriptionRoutes,
      ...domainRoutes,
      ...mailRoutes,
      ...suppressionRoutes,
      ...schemaRoutes,
      ...inboxRoutes,
      ...apiLogRoutes,
      ...keyRoutes,
      ...webhookRoutes,
      ...toolRoutes,
      ...providerRoutes,
      ...teamRoutes,
      ...auditRoutes,
      ...settingsRoutes,
      ...systemRoutes,
    ]),
  ]),
])

export const router = createRouter({ routeTree: tree, defaultPreload: 'intent', defaultPendingMs: 1000, scrollRestoration: true })

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
