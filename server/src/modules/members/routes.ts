import { Type } from 'typebox'
import { route } from '../../infra/http/route.ts'
import type { SessionId } from '../../lib/ids.ts'
import { pathId } from '../../lib/path-params.ts'
import { Exact } from '../../lib/shapes.ts'
import { canMail } from './mails.ts'
import { organisationRoutes } from './organisation-routes.ts'
import { passkeyRoutes, passkeySignInRoutes } from './passkey-routes.ts'
import { passkeyOrigin } from './passkeys.ts'
import { Presence, PresenceInput } from './presence.schema.ts'
import { notePresence } from './presence.ts'
import { profileRoutes } from './profile-routes.ts'
import { AcceptInput, ConsoleSession, OwnerInput, SignedOut, SignInInput, WaysIn } from './schema.ts'
import { type EnvironmentsOf, getSession } from './service.ts'
import { ListedSession, SessionEnd } from './sessions.schema.ts'
import { listSessions, readEnd, revokeSession, signOut } from './sessions.ts'
import { createOwner, signIn } from './sign-in.ts'
import { hasProvider, providerSignOutUrl } from './single-sign-on.ts'
import { singleSignOnRoutes } from './single-sign-on-routes.ts'
import { acceptInvitation } from './team.ts'
import { teamRoutes } from './team-routes.ts'

const NO_CONFIGURATION = 'a session is no configuration; members list their own'

/** Verbs that need other modules. */
export type Verbs = { environmentsOf: EnvironmentsOf }

export const memberRoutes = ({ environmentsOf }: Verbs) => [
  ...teamRoutes,
  ...organisationRoutes,
  ...profileRoutes,
  ...passkeyRoutes,
  ...passkeySignInRoutes(environmentsOf),
  ...singleSignOnRoutes(environmentsOf),
  route({
    method: 'GET',
    path: '/api/console/sign-in',
    summary: 'Read the ways to sign in to this server.',
    description: 'The console’s sign-in page uses this operation.',
    access: { open: 'The reply contains no data about members' },
    reply: WaysIn,
    run: async (ctx) => ({
      local: ctx.config.LOCAL_SIGN_IN,
      single_sign_on: hasProvider(ctx) ? ctx.config.OIDC_NAME : null,
      can_mail: canMail(ctx),
      passkey_origin: passkeyOrigin(ctx),
    }),
  }),
  route({
    method: 'POST',
    path: '/api/console/accept-invitation',
    summary: 'Join the organisation with an invitation link, and sign in.',
    description: 'The reply sets the session cookie. The link can be used once, within seven days.',
    access: { open: 'The random token in the link (256 bits)' },
    body: AcceptInput,
    reply: ConsoleSession,
    audit: { none: 'the invitation is recorded, and who joined is the member of the invitation' },
    errors: ['authentication_required', 'resource_missing'],
    run: async (ctx, { body, browser }) => getSession(await acceptInvitation(ctx, body, browser), environmentsOf),
  }),
  route({
    method: 'POST',
    path: '/api/console/owner',
    summary: 'Create the owner of the organisation with the link from the first start, and sign in.',
    description:
      'The server prints the link when it starts without an owner, and `carillon console` prints it too. It can be used once, within 24 hours. The reply sets the session cookie.',
    access: { open: 'The random token in the link (256 bits), which only the operator sees' },
    body: OwnerInput,
    reply: ConsoleSession,
    audit: { none: 'the verb records the new member, because the request has no organisation before' },
    errors: ['authentication_required', 'resource_already_exists'],
    run: async (ctx, { body, browser, requestId }) => getSession(await createOwner(ctx, body, { browser, requestId }), environmentsOf),
  }),
  route({
    method: 'POST',
    path: '/api/console/sign-in',
    summary: 'Sign in to the console.',
    description:
      'The reply sets the session cookie. An unknown address and a wrong password get the same reply. If the reply has the reason `code_required`, repeat the request with a `code`. If the reason is `passkey_required`, sign in with the passkey, or repeat the request with a recovery code.',
    access: { open: 'The password. After ten failures, the next attempt with the same email address must wait' },
    body: SignInInput,
    reply: ConsoleSession,
    audit: { none: NO_CONFIGURATION },
    errors: ['authentication_required', 'rate_limited'],
    run: async (ctx, { body, browser }) => getSession(await signIn(ctx, body, browser), environmentsOf),
  }),
  route({
    method: 'POST',
    path: '/api/console/sign-out',
    summary: 'End the session of this browser.',
    description:
      'The reply deletes the session cookie. Other sessions of the member stay. For a session that began with single sign-on, send the browser to `url` to end the session at the provider too.',
    access: { member: 'member' },
    audit: { none: NO_CONFIGURATION },
    reply: SignedOut,
    run: async (ctx, { browser }) => {
      const url = await providerSignOutUrl(ctx)
      await signOut(ctx, browser)
      return { url }
    },
  }),
  route({
    method: 'GET',
    path: '/api/console/session',
    summary: 'Read the signed-in member, with their projects and the role in each.',
    description:
      'Requests to `/api/client` with the session cookie name the project in the header `Carillon-Project`. Without the header, they apply to the organisation.',
    access: { member: 'member' },
    reply: ConsoleSession,
    run: (ctx) => getSession(ctx, environmentsOf),
  }),
  route({
    method: 'GET',
    path: '/api/console/session/end',
    summary: 'Read when the session of this browser ends.',
    description:
      'Use this to warn the member before the session ends. This request does not extend the session; `GET /api/console/session` does.',
    access: { member: 'member' },
    isUse: false,
    reply: SessionEnd,
    run: (ctx) => readEnd(ctx),
  }),
  route({
    method: 'PUT',
    path: '/api/console/presence',
    summary: 'Report that you have an object open in an editor, and list the other editors.',
    description: 'Repeat the request every 15 seconds. A member who sends no request for 40 seconds is treated as gone.',
    access: { member: 'member' },
    body: PresenceInput,
    audit: { none: 'nothing is changed' },
    errors: ['resource_missing'],
    reply: Presence,
    run: (ctx, { body }) => notePresence(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/api/console/sessions',
    summary: 'List your own sessions.',
    description: 'Newest first. Sessions that have ended are left out.',
    access: { member: 'member' },
    reply: Exact({ results: Type.Array(ListedSession) }),
    run: (ctx) => listSessions(ctx),
  }),
  route({
    method: 'DELETE',
    path: '/api/console/sessions/{sessionId}',
    summary: 'End one of your own sessions.',
    description: 'The next request of that browser gets 401.',
    access: { member: 'member' },
    params: { sessionId: pathId<SessionId>() },
    audit: { none: NO_CONFIGURATION },
    status: 204,
    run: (ctx, { params }) => revokeSession(ctx, params.sessionId),
  }),
]
