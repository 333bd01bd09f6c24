import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { listSearchOf } from '../../parts/paging.ts'
import { projectRoute } from '../../shell/routes.tsx'

const providers = createRoute({
  getParentRoute: () => projectRoute,
  path: 'providers',
  validateSearch: listSearchOf,
  component: lazyRouteComponent(() => import('./providers.tsx'), 'Providers'),
})

const provider = createRoute({
  getParentRoute: () => projectRoute,
  path: 'providers/$providerId',
  component: lazyRouteComponent(() => import('./provider.tsx'), 'ProviderPage'),
})

export const providerRoutes = [providers, provider] as const
