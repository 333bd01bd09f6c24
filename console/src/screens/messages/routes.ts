import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { pagingOf } from '../../parts/paging.ts'
import { projectRoute } from '../../shell/routes.tsx'
import { filtersOf, type LogSearch } from './search.ts'

const log = createRoute({
  getParentRoute: () => projectRoute,
  path: 'messages',
  validateSearch: (search: Record<string, unknown>): LogSearch => ({
    ...pagingOf(search),
    ...filtersOf(search),
    ...(typeof search.message === 'number' && { message: search.message }),
  }),
  component: lazyRouteComponent(() => import('./log.tsx'), 'MessageLog'),
})

export const messageRoutes = [log] as const
