import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../shell/routes.tsx'

const home = createRoute({
  getParentRoute: () => projectRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./home.tsx'), 'Home'),
})

export const homeRoutes = [home] as const
