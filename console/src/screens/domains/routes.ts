import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { listSearchOf } from '../../parts/paging.ts'
import { projectRoute } from '../../shell/routes.tsx'
import { VIEWS, type View } from './search.ts'

const domains = createRoute({
  getParentRoute: () => projectRoute,
  path: 'domains',
  validateSearch: listSearchOf,
  component: lazyRouteComponent(() => import('./domains.tsx'), 'Domains'),
})

const domain = createRoute({
  getParentRoute: () => projectRoute,
  path: 'domains/$domainId',
  validateSearch: (search: Record<string, unknown>): { view?: View } => {
    const view = VIEWS.find((name) => name === search.view)
    return view ? { view } : {}
  },
  component: lazyRouteComponent(() => import('./domain.tsx'), 'DomainPage'),
})

export const domainRoutes = [domains, domain] as const
