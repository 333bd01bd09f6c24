import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { listSearchOf } from '../../parts/paging.ts'
import { projectRoute } from '../../shell/routes.tsx'
import { listsSearchOf, newListSearchOf, type OneListSearch, VIEWS } from './search.ts'

const lists = createRoute({
  getParentRoute: () => projectRoute,
  path: 'lists',
  validateSearch: listsSearchOf,
  component: lazyRouteComponent(() => import('./lists.tsx'), 'Lists'),
})

const newList = createRoute({
  getParentRoute: () => projectRoute,
  path: 'lists/new',
  validateSearch: newListSearchOf,
  component: lazyRouteComponent(() => import('./new-list.tsx'), 'NewList'),
})

const list = createRoute({
  getParentRoute: () => projectRoute,
  path: 'lists/$listId',
  validateSearch: (search: Record<string, unknown>): OneListSearch => {
    const view = VIEWS.find((name) => name === search.view)
    return { ...listSearchOf(search), ...(view !== undefined && { view }) }
  },
  component: lazyRouteComponent(() => import('./list.tsx'), 'ListPage'),
})

export const listRoutes = [lists, newList, list] as const
