import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { accountRoute } from '../../shell/routes.tsx'

const account = createRoute({
  getParentRoute: () => accountRoute,
  path: '/account',
  component: lazyRouteComponent(() => import('./account.tsx'), 'Account'),
})

export const accountRoutes = [account] as const
