import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../shell/routes.tsx'

const tools = createRoute({
  getParentRoute: () => projectRoute,
  path: 'tools',
  component: lazyRouteComponent(() => import('./tools.tsx'), 'Tools'),
})

export const toolRoutes = [tools] as const
