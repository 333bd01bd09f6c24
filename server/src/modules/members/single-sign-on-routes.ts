import { route } from '../../infra/http/route.ts'
import { ConsoleSession, SingleSignOnAnswer, SingleSignOnStart } from './schema.ts'
import { type EnvironmentsOf, getSession } from './service.ts'
import { beginSingleSignOn, finishSingleSignOn } from './single-sign-on.ts'

/** The sign-in with an OpenID provider. */
export const singleSignOnRoutes = (environmentsOf: EnvironmentsOf) => [
  route({
    method: 'POST',
    path: '/api/console/sign-in/single-sign-on/begin',
    summary: 'Begin to sign in with the provider of single sign-on.',
    description: 'The browser goes to the `url`, and keeps the `binding`. Both hold for ten minutes, once.',
    access: { open: 'It says nothing about members' },
    audit: { none: 'nothing changes before the provider has answered' },
    reply: SingleSignOnStart,
    errors: ['validation_failed'],
    run: (ctx) => beginSingleSignOn(ctx),
  }),
  route({
    method: 'POST',
    path: '/api/console/sign-in/single-sign-on',
    summary: 'Sign in with the answer of the provider of single sign-on.',
    description: 'The reply sets the session cookie. The roles are those that the groups of the member have in `OIDC_ROLES`.',
    access: { open: 'A code of the provider, for a state that holds once in the browser that began' },
    body: SingleSignOnAnswer,
    reply: ConsoleSession,
    audit: { none: 'the verb records the members that it creates, links and changes' },
    errors: ['authentication_required', 'permission_denied', 'quota_exceeded'],
    run: async (ctx, { body, browser, requestId }) =>
      getSession(await finishSingleSignOn(ctx, body, { browser, requestId }), environmentsOf),
  }),
]
