import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { type Paging, pagingOf } from '../../parts/paging.ts'
import { projectRoute } from '../../shell/routes.tsx'

type SubscriptionsSearch = Paging & { q?: string }

const subscriptions = createRoute({
  getParentRoute: () => projectRoute,
  path: 'subscriptions',
  validateSearch: (search: Record<string, unknown>): SubscriptionsSearch => ({
    ...pagingOf(search),
    ...(typeof search.q === 'string' && search.q !== '' && { q: search.q }),
  }),
  component: lazyRouteComponent(() => import('./subscriptions.tsx'), 'SubscriptionTypes'),
})

export const subscriptionRoutes = [subscriptions] as const
