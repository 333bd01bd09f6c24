/** The routes that others stand in. Screens import their parent from here, and `router.ts` puts them together. */
import { createRootRoute, createRoute, lazyRouteComponent, Outlet, redirect } from '@tanstack/react-router'
import { firstProject, projectOf, sessionQuery } from '../session/index.ts'
import { queryClient } from '../session/query-client.ts'
import { NotFound } from './not-found.tsx'
import { ScreenFailed } from './screen-failed.tsx'

export const rootRoute = createRootRoute({
  component: Outlet,
  errorComponent: ScreenFailed,
  notFoundComponent: NotFound,
})

/** Everything behind the sign-in. */
export const memberRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'member',
  beforeLoad: async ({ location }) => {
    const session = await queryClient.ensureQueryData(sessionQuery)
    if (session === null) throw redirect({ to: '/sign-in', search: { to: location.href } })
    return { session }
  },
  component: Outlet,
})

/** `/`: the project that was open last. */
export const startRoute = createRoute({
  getParentRoute: () => memberRoute,
  path: '/',
  beforeLoad: ({ context: { session } }) => {
    const project = firstProject(session)
    if (project) throw redirect({ to: '/p/$project', params: { project: String(project.id) } })
  },
  component: lazyRouteComponent(() => import('./no-project.tsx'), 'NoProject'),
})

/** A project, with the frame around its screens. */
export const projectRoute = createRoute({
  getParentRoute: () => memberRoute,
  path: '/p/$project',
  beforeLoad: ({ context: { session }, params }) => {
    if (!projectOf(session, Number(params.project))) throw redirect({ to: '/' })
  },
  component: lazyRouteComponent(() => import('./frame.tsx'), 'ProjectFrame'),
  errorComponent: ScreenFailed,
  notFoundComponent: NotFound,
})

/** Screens of the member and of the organisation, in the same frame without a project of their own. */
export const accountRoute = createRoute({
  getParentRoute: () => memberRoute,
  id: 'account-frame',
  component: lazyRouteComponent(() => import('./frame.tsx'), 'AccountFrame'),
})
