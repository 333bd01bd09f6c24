import { route } from '../../infra/http/route.ts'
import { beginOwnTotp, changePassword, getProfile, losePassword, removeOwnTotp, resetPassword, updateProfile } from './profile.ts'
import {
  CodeInput,
  LostPassword,
  PasswordChange,
  PasswordProof,
  PasswordReset,
  Profile,
  ProfileChanges,
  RecoveryCodes,
  TotpSecret,
} from './schema.ts'
import { confirmTotp } from './second-factor.ts'

const BY_VERB = 'the verb records it, because a hash is computed outside of its transaction'

/** A change that asks for the password, so that it is throttled as sign-ins are. */
const withPassword = { access: { member: 'member' }, audit: { none: BY_VERB }, status: 204, errors: ['rate_limited'] } as const

/** What members change about themselves. */
export const profileRoutes = [
  route({
    method: 'GET',
    path: '/api/console/profile',
    summary: 'Read your own profile.',
    description: 'Includes the second factors and the number of unused recovery codes.',
    access: { member: 'member' },
    reply: Profile,
    run: (ctx) => getProfile(ctx),
  }),
  route({
    method: 'PATCH',
    path: '/api/console/profile',
    summary: 'Change your own name.',
    description: 'New audit log entries show the new name.',
    access: { member: 'member' },
    audit: { none: 'a name is no configuration' },
    body: ProfileChanges,
    reply: Profile,
    run: (ctx, { body }) => updateProfile(ctx, body),
  }),
  route({
    method: 'PUT',
    path: '/api/console/profile/password',
    summary: 'Change your own password.',
    description: 'Your other sessions end.',
    ...withPassword,
    body: PasswordChange,
    run: (ctx, { body }) => changePassword(ctx, body),
  }),
  route({
    method: 'POST',
    path: '/api/console/profile/totp/begin',
    summary: 'Start setting up one-time codes.',
    description: 'Once the first code is confirmed, signing in needs a code. Each request creates a new secret.',
    access: { member: 'member' },
    audit: { none: 'nothing changes before a code is confirmed' },
    body: PasswordProof,
    reply: TotpSecret,
    errors: ['resource_already_exists', 'rate_limited'],
    run: (ctx, { body }) => beginOwnTotp(ctx, body.current_password),
  }),
  route({
    method: 'POST',
    path: '/api/console/profile/totp/confirm',
    summary: 'Turn on one-time codes by confirming the first one.',
    description: 'The reply has ten recovery codes. They are shown once.',
    access: { member: 'member' },
    audit: { none: BY_VERB },
    body: CodeInput,
    reply: RecoveryCodes,
    run: (ctx, { body }) => confirmTotp(ctx, body.code),
  }),
  route({
    method: 'POST',
    path: '/api/console/profile/totp/remove',
    summary: 'Remove one-time codes.',
    description: 'If you have no passkey, signing in then needs only the password, and the recovery codes are deleted.',
    ...withPassword,
    body: PasswordProof,
    run: (ctx, { body }) => removeOwnTotp(ctx, body.current_password),
  }),
  route({
    method: 'POST',
    path: '/api/console/lost-password',
    summary: 'Send a password reset link.',
    description:
      'The reply is the same whether or not the address belongs to a member. A member gets at most one link in five minutes. A server without `SYSTEM_SMTP_URL` sends none.',
    access: { open: 'The link is sent only to the member’s email address' },
    audit: { none: 'nothing changes before the link is used' },
    body: LostPassword,
    status: 204,
    run: (ctx, { body }) => losePassword(ctx, body.email),
  }),
  route({
    method: 'POST',
    path: '/api/console/reset-password',
    summary: 'Set a new password with a link.',
    description: 'All sessions of the member end. The second factor stays.',
    access: { open: 'The random token in the link (256 bits)' },
    audit: { none: BY_VERB },
    body: PasswordReset,
    status: 204,
    errors: ['authentication_required', 'resource_missing'],
    run: (ctx, { body, browser, requestId }) => resetPassword(ctx, body, { browser, requestId }),
  }),
]
