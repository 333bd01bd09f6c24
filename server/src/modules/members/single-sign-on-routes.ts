import { route } from '../../infra/http/route.ts'
import { ConsoleSession, SingleSignOnAnswer, SingleSignOnStart } from './schema.ts'
import { type EnvironmentsOf, getSession } from './service.ts'
import { beginSingleSignOn, finishSingleSignOn } from './single-sign-on.ts'

/** The sign-in with an OpenID provider. */
export const singleSignOnRoutes = (environmentsOf: EnvironmentsOf) => [
  route({
    method: 'POST',
    path: '/api/console/sign-in/single-sign-on/begin',
    summary: 'Begin single sign-on.',
    description: 'Send the browser to `url`, and keep `binding` in the browser. Both are valid for ten minutes and can be used once.',
    access: { open: 'The reply contains no data about members' },
    audit: { none: 'nothing changes before the provider has answered' },
    reply: SingleSignOnStart,
    errors: ['validation_failed'],
    run: (ctx) => beginSingleSignOn(ctx),
  }),
  route({
    method: 'POST',
    path: '/api/console/sign-in/single-sign-on',
    summary: 'Complete single sign-on with the reply of the provider.',
    description: 'The reply sets the session cookie. `OIDC_ROLES` maps the member’s groups to roles.',
    access: { open: 'A code from the provider, with a state that can be used once, in the browser that began the sign-in' },
    body: SingleSignOnAnswer,
    reply: ConsoleSession,
    audit: { none: 'the verb records the members that it creates, links and changes' },
    errors: ['authentication_required', 'permission_denied', 'quota_exceeded'],
    run: async (ctx, { body, browser, requestId }) =>
      getSession(await finishSingleSignOn(ctx, body, { browser, requestId }), environmentsOf),
  }),
]
