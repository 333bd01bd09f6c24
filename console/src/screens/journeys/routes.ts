import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { archivedSearchOf } from '../../parts/archived-search.ts'
import { listSearchOf, textOf } from '../../parts/paging.ts'
import { projectRoute } from '../../shell/routes.tsx'
import { type JourneySearch, type JourneysSearch, SHAPES, USER_STATES, VIEWS } from './search.ts'

const journeys = createRoute({
  getParentRoute: () => projectRoute,
  path: 'journeys',
  validateSearch: (search: Record<string, unknown>): JourneysSearch => ({
    ...archivedSearchOf(search),
    ...(search.new === true && { new: true }),
  }),
  component: lazyRouteComponent(() => import('./journeys.tsx'), 'Journeys'),
})

const journey = createRoute({
  getParentRoute: () => projectRoute,
  path: 'journeys/$journeyId',
  validateSearch: (search: Record<string, unknown>): JourneySearch => {
    const view = VIEWS.find((name) => name === search.view)
    const shape = SHAPES.find((name) => name === search.shape)
    const state = USER_STATES.find((name) => name === search.state)
    const [step, user] = [textOf(search.step), textOf(search.user)]
    const backtest = Number.isInteger(search.backtest) ? (search.backtest as number) : undefined
    return {
      ...listSearchOf(search),
      ...(view && { view }),
      ...(shape && { shape }),
      ...(state && { state }),
      ...(step !== undefined && { step }),
      ...(user !== undefined && { user }),
      ...(backtest !== undefined && { backtest }),
    }
  },
  component: lazyRouteComponent(() => import('./journey.tsx'), 'JourneyPage'),
})

export const journeyRoutes = [journeys, journey] as const
