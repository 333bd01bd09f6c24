import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { listSearchOf } from '../../parts/paging.ts'
import { projectRoute } from '../../shell/routes.tsx'

const suppressions = createRoute({
  getParentRoute: () => projectRoute,
  path: 'suppressions',
  validateSearch: listSearchOf,
  component: lazyRouteComponent(() => import('./suppressions.tsx'), 'Suppressions'),
})

export const suppressionRoutes = [suppressions] as const
