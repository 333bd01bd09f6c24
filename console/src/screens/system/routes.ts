import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../shell/routes.tsx'

const system = createRoute({
  getParentRoute: () => projectRoute,
  path: 'system',
  component: lazyRouteComponent(() => import('./system.tsx'), 'SystemHealth'),
})

export const systemRoutes = [system] as const
