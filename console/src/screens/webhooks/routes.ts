import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { listSearchOf } from '../../parts/paging.ts'
import { projectRoute } from '../../shell/routes.tsx'
import { type EndpointSearch, VIEWS } from './search.ts'

const webhooks = createRoute({
  getParentRoute: () => projectRoute,
  path: 'webhooks',
  validateSearch: listSearchOf,
  component: lazyRouteComponent(() => import('./webhooks.tsx'), 'Webhooks'),
})

const endpoint = createRoute({
  getParentRoute: () => projectRoute,
  path: 'webhooks/$endpointId',
  validateSearch: (search: Record<string, unknown>): EndpointSearch => {
    const view = VIEWS.find((name) => name === search.view)
    return {
      ...listSearchOf(search),
      ...(view && { view }),
      ...(typeof search.delivery === 'number' && { delivery: search.delivery }),
    }
  },
  component: lazyRouteComponent(() => import('./endpoint.tsx'), 'EndpointPage'),
})

export const webhookRoutes = [webhooks, endpoint] as const
