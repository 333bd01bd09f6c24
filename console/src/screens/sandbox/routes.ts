import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { pagingOf } from '../../parts/paging.ts'
import { projectRoute } from '../../shell/routes.tsx'
import { type InboxSearch, TABS } from './search.ts'

const inbox = createRoute({
  getParentRoute: () => projectRoute,
  path: 'sandbox',
  validateSearch: (search: Record<string, unknown>): InboxSearch => {
    const tab = TABS.find((name) => name === search.tab)
    return {
      ...pagingOf(search),
      ...(typeof search.q === 'string' && search.q !== '' && { q: search.q }),
      ...(typeof search.message === 'number' && { message: search.message }),
      ...(tab !== undefined && { tab }),
    }
  },
  component: lazyRouteComponent(() => import('./inbox.tsx'), 'Inbox'),
})

export const inboxRoutes = [inbox] as const
