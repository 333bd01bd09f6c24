import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../shell/routes.tsx'
import { logSearchOf } from './search.ts'

const log = createRoute({
  getParentRoute: () => projectRoute,
  path: 'api-log',
  validateSearch: logSearchOf,
  component: lazyRouteComponent(() => import('./log.tsx'), 'ApiLog'),
})

export const apiLogRoutes = [log] as const
