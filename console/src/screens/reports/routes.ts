import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../shell/routes.tsx'
import { reportSearchOf } from './search.ts'

const reports = createRoute({
  getParentRoute: () => projectRoute,
  path: 'reports',
  validateSearch: reportSearchOf,
  component: lazyRouteComponent(() => import('./reports.tsx'), 'Reports'),
})

export const reportRoutes = [reports] as const
