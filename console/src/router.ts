/** Every screen, one line for each area. */
import { createRouter } from '@tanstack/react-router'
import { accountRoutes } from './screens/account/routes.ts'
import { campaignRoutes } from './screens/campaigns/routes.ts'
import { homeRoutes } from './screens/home/routes.ts'
import { importRoutes } from './screens/imports/routes.ts'
import { keyRoutes } from './screens/keys/routes.ts'
import { listRoutes } from './screens/lists/routes.ts'
import { messageRoutes } from './screens/messages/routes.ts'
import { inboxRoutes } from './screens/sandbox/routes.ts'
import { signInRoutes } from './screens/sign-in/routes.ts'
import { subscriptionRoutes } from './screens/subscriptions/routes.ts'
import { suppressionRoutes } from './screens/suppressions/routes.ts'
import { userRoutes } from './screens/users/routes.ts'
import { accountRoute, memberRoute, projectRoute, rootRoute, startRoute } from './shell/routes.tsx'

const tree = rootRoute.addChildren([
  ...signInRoutes,
  memberRoute.addChildren([
    startRoute,
    accountRoute.addChildren([...accountRoutes]),
    projectRoute.addChildren([
      ...homeRoutes,
      ...campaignRoutes,
      ...userRoutes,
      ...importRoutes,
      ...listRoutes,
      ...messageRoutes,
      ...subscriptionRoutes,
      ...suppressionRoutes,
      ...inboxRoutes,
      ...keyRoutes,
    ]),
  ]),
])

export const router = createRouter({ routeTree: tree, defaultPreload: 'intent', defaultPendingMs: 1000, scrollRestoration: true })

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
