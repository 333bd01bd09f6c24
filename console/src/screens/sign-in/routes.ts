import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { refreshSession, sessionQuery } from '../../session/index.ts'
import { queryClient } from '../../session/query-client.ts'
import { comeBack } from '../../session/single-sign-on.ts'
import { rootRoute } from '../../shell/routes.tsx'

/** Addresses of this site only. */
const pathOf = (to: unknown): string | undefined => (typeof to === 'string' && /^\/(?![/\\])/.test(to) ? to : undefined)

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: ({ to }: Record<string, unknown>): { to?: string } => {
    const path = pathOf(to)
    return path === undefined ? {} : { to: path }
  },
  beforeLoad: async ({ location }) => {
    if (location.hash !== '') return
    const session = await queryClient.fetchQuery(sessionQuery).catch(() => null)
    if (session !== null) throw redirect({ to: '/' })
  },
  component: lazyRouteComponent(() => import('./sign-in.tsx'), 'SignIn'),
})

/** Where the provider of single sign-on leads back to. The loader signs in, and returns why it could not. */
const callback = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in/callback',
  loader: async (): Promise<unknown> => {
    const came = await comeBack(window.location.search).then(
      (to) => ({ to }),
      (error: unknown) => ({ error }),
    )
    if ('error' in came) return came.error
    await refreshSession()
    throw redirect({ href: pathOf(came.to) ?? '/', replace: true })
  },
  component: lazyRouteComponent(() => import('./callback.tsx'), 'Callback'),
})

const lostPassword = createRoute({
  getParentRoute: () => rootRoute,
  path: '/lost-password',
  component: lazyRouteComponent(() => import('./lost-password.tsx'), 'LostPassword'),
})

const newPassword = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reset-password',
  component: lazyRouteComponent(() => import('./new-password.tsx'), 'NewPassword'),
})

const invitation = createRoute({
  getParentRoute: () => rootRoute,
  path: '/accept-invitation',
  component: lazyRouteComponent(() => import('./invitation.tsx'), 'Invitation'),
})

export const signInRoutes = [signIn, callback, lostPassword, newPassword, invitation] as const
