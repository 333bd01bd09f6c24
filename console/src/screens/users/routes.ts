import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../shell/routes.tsx'
import { SHOWN, type Shown, usersAddressOf } from './search.ts'

const users = createRoute({
  getParentRoute: () => projectRoute,
  path: 'users',
  validateSearch: usersAddressOf,
  component: lazyRouteComponent(() => import('./users.tsx'), 'Users'),
})

const user = createRoute({
  getParentRoute: () => projectRoute,
  path: 'users/$userId',
  validateSearch: ({ show }: Record<string, unknown>): { show?: Shown } => {
    const shown = SHOWN.find((name) => name === show)
    return shown === undefined || shown === 'all' ? {} : { show: shown }
  },
  component: lazyRouteComponent(() => import('./user.tsx'), 'UserPage'),
})

export const userRoutes = [users, user] as const
