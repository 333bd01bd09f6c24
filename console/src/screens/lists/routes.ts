import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { pagingOf } from '../../parts/paging.ts'
import { projectRoute } from '../../shell/routes.tsx'
import { type ListSearch, type ListsSearch, VIEWS } from './search.ts'

const found = (search: Record<string, unknown>): ListsSearch => ({
  ...pagingOf(search),
  ...(typeof search.q === 'string' && search.q !== '' && { q: search.q }),
})

const lists = createRoute({
  getParentRoute: () => projectRoute,
  path: 'lists',
  validateSearch: found,
  component: lazyRouteComponent(() => import('./lists.tsx'), 'Lists'),
})

const newList = createRoute({
  getParentRoute: () => projectRoute,
  path: 'lists/new',
  component: lazyRouteComponent(() => import('./new-list.tsx'), 'NewList'),
})

const list = createRoute({
  getParentRoute: () => projectRoute,
  path: 'lists/$listId',
  validateSearch: (search: Record<string, unknown>): ListSearch => {
    const view = VIEWS.find((name) => name === search.view)
    return { ...found(search), ...(view !== undefined && { view }) }
  },
  component: lazyRouteComponent(() => import('./list.tsx'), 'ListPage'),
})

export const listRoutes = [lists, newList, list] as const
