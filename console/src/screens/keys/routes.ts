import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { listSearchOf } from '../../parts/paging.ts'
import { projectRoute } from '../../shell/routes.tsx'

const keys = createRoute({
  getParentRoute: () => projectRoute,
  path: 'keys',
  validateSearch: listSearchOf,
  component: lazyRouteComponent(() => import('./keys.tsx'), 'Keys'),
})

export const keyRoutes = [keys] as const
