import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../shell/routes.tsx'
import { settingsSearchOf } from './search.ts'

const settings = createRoute({
  getParentRoute: () => projectRoute,
  path: 'settings',
  validateSearch: settingsSearchOf,
  component: lazyRouteComponent(() => import('./settings.tsx'), 'Settings'),
})

export const settingsRoutes = [settings] as const
