import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { listSearchOf } from '../../parts/paging.ts'
import { projectRoute } from '../../shell/routes.tsx'
import { openEventOf, VIEWS } from './view.ts'

const schema = createRoute({
  getParentRoute: () => projectRoute,
  path: 'schema',
  validateSearch: (search: Record<string, unknown>) => ({
    ...listSearchOf(search),
    ...(VIEWS.includes(search.view as 'events') && { view: search.view as 'events', ...openEventOf(search) }),
  }),
  component: lazyRouteComponent(() => import('./schema.tsx'), 'Schema'),
})

export const schemaRoutes = [schema] as const
