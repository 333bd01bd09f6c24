/** What members change about themselves: the name, the password and the second factor; and a password that was lost (D-CON-8, D-CON-10). */
import type { Browser } from '../../infra/http/route.ts'
import { type Ctx, type InTx, inTx, type MemberCtx } from '../../infra/runtime/ctx.ts'
import { ApiError } from '../../lib/errors.ts'
import { MINUTE_MS } from '../../lib/times.ts'
import { recordAction } from '../audit/index.ts'
import { deleteLinksOf } from './links.queries.ts'
import { createLink, PASSWORD_LINKS, useLink } from './links.ts'
import { sendLater } from './mails.ts'
import { hashPassword, isPassword, requireGoodPassword } from './passwords.ts'
import { findByEmail, findMember, replacePasswordHash, setPasswordHash } from './queries.ts'
import type { MemberRow, PasswordChange, Profile, ProfileChanges } from './schema.ts'
import { beginTotp, removeSecondFactors, removeTotp, secondFactorOf } from './second-factor.ts'
import { deleteSessions, findOwnSession, requireRenewal } from './sessions.queries.ts'
import { normalEmail, requireLocalSignIn, signedIn } from './sign-in.ts'
import { updateMember } from './team.queries.ts'
import { clearFailuresOf, throttled } from './throttle.ts'

async function self(ctx: MemberCtx): Promise<MemberRow> {
  const member = await findMember(ctx, ctx.organisationId, ctx.memberId)
  if (!member) throw new Error('The session of the request has no member.')
  return member
}

/** The member who is signed in. */
export async function getProfile(ctx: MemberCtx): Promise<Profile> {
  const member = await self(ctx)
  const { id, email, name, role, password_hash } = member
  return { id, email, name, role, has_password: password_hash !== null, ...(await secondFactorOf(ctx, member)) }
}

/** Changes the member’s own name. */
export async function updateProfile(ctx: MemberCtx, changes: ProfileChanges): Promise<Profile> {
  await updateMember(ctx, ctx.organisationId, ctx.memberId, changes)
  return getProfile(ctx)
}

/** Asks for the password again, before what a page left open must not do. Throws 403 for a wrong one, and 429 after ten. */
async function requirePassword(ctx: MemberCtx, password: string): Promise<MemberRow> {
  const member = await self(ctx)
  return throttled(ctx, member.email, async () => {
    if (await isPassword(ctx, password, member.password_hash)) return member
    throw wrongPassword()
  })
}

const wrongPassword = () => new ApiError('permission_denied', 'The current password is wrong.', { param: 'current_password' })

/** A member without a password proves with a sign-in, which is at most this old. */
const FRESH_MS = 10 * MINUTE_MS

/**
 * Requires the password again, or from a member without a password a sign-in within the last ten minutes. Throws 403, and 429 after ten
 * wrong passwords.
 */
export async function requireProof(ctx: MemberCtx, password: string | undefined): Promise<MemberRow> {
  const member = await self(ctx)
  if (member.password_hash !== null) return requirePassword(ctx, password ?? '')
  const { created_at } = await findOwnSession(ctx)
  if (created_at.getTime() > ctx.clock.now().getTime() - FRESH_MS) return member
  throw new ApiError('permission_denied', 'Sign out and sign in again, then repeat this within ten minutes.', { param: 'current_password' })
}

/** Changes the password. The other sessions of the member end, and this one gets a new token with the next request. */
export async function changePassword(ctx: MemberCtx, { current_password, password }: PasswordChange): Promise<void> {
  const member = await requirePassword(ctx, current_password)
  requireGoodPassword(password, member.email)
  const passwordHash = await hashPassword(ctx, password)
  await inTx(ctx, async (ctx) => {
    const { organisationId, memberId, sessionId } = ctx
    if (!(await replacePassword(ctx, member, current_password, passwordHash))) throw wrongPassword()
    await deleteSessions(ctx, organisationId, memberId, sessionId)
    await requireRenewal(ctx, organisationId, memberId)
    await deleteLinksOf(ctx, organisationId, PASSWORD_LINKS, memberId)
    await recordAction(ctx, null, 'member.password_changed', memberId, {})
  })
}

/**
 * Replaces a password that was checked. Returns false if it is no longer the password: a link for a lost one may have been used since. A
 * sign-in that made its hash again changes nothing.
 */
async function replacePassword(
  ctx: Ctx,
  { organization_id, id, password_hash }: MemberRow,
  password: string,
  hash: string,
): Promise<boolean> {
  const replaces = async (from: string) => (await replacePasswordHash(ctx, organization_id, id, from, hash)) === 1
  if (await replaces(password_hash as string)) return true
  const now = (await findMember(ctx, organization_id, id))?.password_hash ?? null
  return now !== null && (await isPassword(ctx, password, now)) && replaces(now)
}

/** Begins to set up one-time codes. */
export const beginOwnTotp = async (ctx: MemberCtx, password: string | undefined) => beginTotp(ctx, await requireProof(ctx, password))

/** Removes the member’s own one-time codes. */
export async function removeOwnTotp(ctx: MemberCtx, password: string | undefined): Promise<void> {
  const member = await requireProof(ctx, password)
  await inTx(ctx, async (ctx) => {
    await removeTotp(ctx, member)
    await recordAction(ctx, null, 'member.second_factor_removed', ctx.memberId, {})
  })
}

/** Sends a link for a new password, if the address is that of a member. Neither the reply nor its timing reveals whether it is. */
export async function losePassword(ctx: Ctx, email: string): Promise<void> {
  requireLocalSignIn(ctx)
  await sendLater(ctx, { kind: 'password', to: normalEmail(email) })
}

/**
 * Sets a new password with a link. All sessions of the member end. Where members cannot sign in with passwords, only a link from the
 * operator is valid, and it also signs the member in: it is the way back in when the provider fails. Links that were emailed earlier are
 * not valid there. Throws 401 for a link that is not valid.
 */
export async function resetPassword(
  ctx: Ctx,
  { token, password }: { token: string; password: string },
  { browser, requestId }: { browser: Browser; requestId: string },
): Promise<void> {
  const passwordHash = await hashPassword(ctx, password)
  const member = await inTx(ctx, async (ctx) => {
    const { organization_id: organisationId, member_id } = await useLink(
      ctx,
      ctx.config.LOCAL_SIGN_IN ? PASSWORD_LINKS : ['operator'],
      token,
    )
    const member = member_id === null ? undefined : await findMember(ctx, organisationId, member_id)
    if (!member) throw new ApiError('resource_missing', 'The member was removed.')
    requireGoodPassword(password, member.email)
    const { id, name } = member
    await setPasswordHash(ctx, organisationId, id, passwordHash)
    await deleteSessions(ctx, organisationId, id, null)
    await deleteLinksOf(ctx, organisationId, PASSWORD_LINKS, id)
    const by: InTx<Ctx> = { ...ctx, actor: { kind: 'member', id, name }, origin: { via: 'console', requestId, organisationId } }
    await recordAction(by, null, 'member.password_changed', id, {})
    return member
  })
  await clearFailuresOf(ctx, member.email)
  if (!ctx.config.LOCAL_SIGN_IN) await signedIn(ctx, member, browser)
}

/** For the operator: a link that sets a new password, without second factors. Null if no member has the address. */
export const operatorLink = (ctx: Ctx, email: string): Promise<string | null> =>
  inTx(ctx, async (ctx) => {
    const member = await findByEmail(ctx, normalEmail(email))
    if (!member) return null
    const { id, organization_id: organisationId } = member
    await removeSecondFactors(ctx, member)
    const by: InTx<Ctx> = { ...ctx, origin: { via: 'cli', requestId: null, organisationId } }
    await recordAction(by, null, 'member.reset', id, {})
    return createLink(ctx, 'operator', organisationId, id)
  })
