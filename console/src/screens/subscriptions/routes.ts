import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { listSearchOf } from '../../parts/paging.ts'
import { projectRoute } from '../../shell/routes.tsx'

const subscriptions = createRoute({
  getParentRoute: () => projectRoute,
  path: 'subscriptions',
  validateSearch: listSearchOf,
  component: lazyRouteComponent(() => import('./subscriptions.tsx'), 'SubscriptionTypes'),
})

export const subscriptionRoutes = [subscriptions] as const
