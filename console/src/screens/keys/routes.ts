import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { type Paging, pagingOf } from '../../parts/paging.ts'
import { projectRoute } from '../../shell/routes.tsx'

type KeysSearch = Paging & { q?: string }

const keys = createRoute({
  getParentRoute: () => projectRoute,
  path: 'keys',
  validateSearch: (search: Record<string, unknown>): KeysSearch => ({
    ...pagingOf(search),
    ...(typeof search.q === 'string' && search.q !== '' && { q: search.q }),
  }),
  component: lazyRouteComponent(() => import('./keys.tsx'), 'Keys'),
})

export const keyRoutes = [keys] as const
