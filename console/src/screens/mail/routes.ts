import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../shell/routes.tsx'
import { mailSearchOf } from './search.ts'

const mail = createRoute({
  getParentRoute: () => projectRoute,
  path: 'mail-queue',
  validateSearch: mailSearchOf,
  component: lazyRouteComponent(() => import('./mail.tsx'), 'Mail'),
})

export const mailRoutes = [mail] as const
