import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { type Paging, pagingOf } from '../../parts/paging.ts'
import { projectRoute } from '../../shell/routes.tsx'

/** The list whose imports are shown, and the import that is open. */
type ImportsSearch = Paging & { list?: number; import?: number }

const listOf = ({ list }: Record<string, unknown>) => ({ ...(typeof list === 'number' && { list }) })

const imports = createRoute({
  getParentRoute: () => projectRoute,
  path: 'imports',
  validateSearch: (search: Record<string, unknown>): ImportsSearch => ({
    ...pagingOf(search),
    ...listOf(search),
    ...(typeof search.import === 'number' && { import: search.import }),
  }),
  component: lazyRouteComponent(() => import('./imports.tsx'), 'Imports'),
})

const newImport = createRoute({
  getParentRoute: () => projectRoute,
  path: 'imports/new',
  validateSearch: (search: Record<string, unknown>): { list?: number } => listOf(search),
  component: lazyRouteComponent(() => import('./new-import.tsx'), 'NewImport'),
})

export const importRoutes = [imports, newImport] as const
