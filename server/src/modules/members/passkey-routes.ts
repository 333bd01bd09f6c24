import { Type } from 'typebox'
import { route } from '../../infra/http/route.ts'
import type { PasskeyId } from '../../lib/ids.ts'
import { pathId } from '../../lib/path-params.ts'
import { Exact } from '../../lib/shapes.ts'
import { addPasskey, beginPasskey, beginPasskeySignIn, listPasskeys, removePasskey, signInWithPasskey } from './passkeys.ts'
import { ConsoleSession, NewPasskey, Passkey, PasskeyAnswer, PasskeyInput, PasskeyOptions, PasswordProof } from './schema.ts'
import { type EnvironmentsOf, getSession } from './service.ts'

const UNANSWERED = 'nothing changes before the challenge is answered'

/** The passkeys of a member. */
export const passkeyRoutes = [
  route({
    method: 'GET',
    path: '/api/console/profile/passkeys',
    summary: 'List your own passkeys.',
    description: 'The oldest first.',
    access: { member: 'member' },
    reply: Exact({ results: Type.Array(Passkey) }),
    run: (ctx) => listPasskeys(ctx),
  }),
  route({
    method: 'POST',
    path: '/api/console/profile/passkeys/begin',
    summary: 'Start adding a passkey.',
    description: 'The reply has the options for the browser. They are valid for five minutes and can be used once.',
    access: { member: 'member' },
    audit: { none: UNANSWERED },
    body: PasswordProof,
    reply: PasskeyOptions,
    errors: ['quota_exceeded', 'rate_limited'],
    run: (ctx, { body }) => beginPasskey(ctx, body.current_password),
  }),
  route({
    method: 'POST',
    path: '/api/console/profile/passkeys',
    summary: 'Add a passkey.',
    description:
      'Send the reply of the authenticator. From then on, signing in with the password also needs the passkey, a code or a recovery code. If this is the first second factor, the reply has the recovery codes; they are shown once.',
    access: { member: 'member' },
    audit: { none: 'the verb records it, with the name of the passkey' },
    body: PasskeyInput,
    reply: NewPasskey,
    errors: ['quota_exceeded', 'resource_already_exists'],
    run: (ctx, { body }) => addPasskey(ctx, body),
  }),
  route({
    method: 'POST',
    path: '/api/console/profile/passkeys/{passkeyId}/remove',
    summary: 'Remove one of your own passkeys.',
    description: 'The passkey can no longer be used to sign in. Removing the last second factor also deletes the recovery codes.',
    access: { member: 'member' },
    params: { passkeyId: pathId<PasskeyId>() },
    audit: { none: 'the verb records it, with the name of the passkey' },
    body: PasswordProof,
    status: 204,
    errors: ['rate_limited'],
    run: (ctx, { params, body }) => removePasskey(ctx, params.passkeyId, body.current_password),
  }),
]

/** The sign-in with a passkey. */
export const passkeySignInRoutes = (environmentsOf: EnvironmentsOf) => [
  route({
    method: 'POST',
    path: '/api/console/sign-in/passkey/begin',
    summary: 'Start signing in with a passkey.',
    description:
      'The reply has the options for the browser. They are valid for five minutes, can be used once, and do not identify a member.',
    access: { open: 'The reply contains no data about members' },
    audit: { none: UNANSWERED },
    reply: PasskeyOptions,
    errors: ['validation_failed'],
    run: (ctx) => beginPasskeySignIn(ctx),
  }),
  route({
    method: 'POST',
    path: '/api/console/sign-in/passkey',
    summary: 'Sign in to the console with a passkey.',
    description: 'The reply sets the session cookie. No code is needed, because the authenticator has verified its user.',
    access: { open: 'The authenticator’s signature of a challenge that can be used once' },
    body: PasskeyAnswer,
    reply: ConsoleSession,
    audit: { none: 'a session is no configuration; members list their own' },
    errors: ['authentication_required'],
    run: async (ctx, { body, browser }) => getSession(await signInWithPasskey(ctx, body, browser), environmentsOf),
  }),
]
