import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { projectRoute } from '../../shell/routes.tsx'
import { auditSearchOf } from './search.ts'

const audit = createRoute({
  getParentRoute: () => projectRoute,
  path: 'audit',
  validateSearch: auditSearchOf,
  component: lazyRouteComponent(() => import('./audit.tsx'), 'AuditLog'),
})

export const auditRoutes = [audit] as const
