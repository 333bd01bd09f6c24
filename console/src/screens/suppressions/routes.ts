import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { type Paging, pagingOf } from '../../parts/paging.ts'
import { projectRoute } from '../../shell/routes.tsx'

type SuppressionsSearch = Paging & { q?: string }

const suppressions = createRoute({
  getParentRoute: () => projectRoute,
  path: 'suppressions',
  validateSearch: (search: Record<string, unknown>): SuppressionsSearch => ({
    ...pagingOf(search),
    // The router reads a telephone number as a number.
    ...((typeof search.q === 'string' || typeof search.q === 'number') && search.q !== '' && { q: String(search.q) }),
  }),
  component: lazyRouteComponent(() => import('./suppressions.tsx'), 'Suppressions'),
})

export const suppressionRoutes = [suppressions] as const
