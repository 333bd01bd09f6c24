import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { listSearchOf } from '../../parts/paging.ts'
import { projectRoute } from '../../shell/routes.tsx'

const subscriptions = createRoute({
  getParentRoute: () => projectRoute,
  path: 'subscriptions',
  validateSearch: listSearchOf,
  component: lazyRouteComponent(() => import('./subscriptions.tsx'), 'SubscriptionTypes'),
})

const page = createRoute({
  getParentRoute: () => projectRoute,
  path: 'preference-page',
  component: lazyRouteComponent(() => import('./page.tsx'), 'PreferencePage'),
})

export const subscriptionRoutes = [subscriptions, page] as const
