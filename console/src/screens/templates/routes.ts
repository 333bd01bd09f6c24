import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../shell/routes.tsx'
import { templateSearchOf } from './search.ts'

const templates = createRoute({
  getParentRoute: () => projectRoute,
  path: 'templates',
  validateSearch: templateSearchOf,
  component: lazyRouteComponent(() => import('./templates.tsx'), 'Templates'),
})

export const templateRoutes = [templates] as const
