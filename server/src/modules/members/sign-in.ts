/** The owner’s first sign-in by a link, and sign-ins with a password (D-CON-2, D-CON-7). */
import type { Browser } from '../../infra/http/route.ts'
import { type Ctx, type InTx, inTx, type MemberCtx } from '../../infra/runtime/ctx.ts'
import { ApiError } from '../../lib/errors.ts'
import type { OrganisationId } from '../../lib/ids.ts'
import { recordAction } from '../audit/index.ts'
import { deleteLinksOf } from './links.queries.ts'
import { createLink, useLink } from './links.ts'
import { hashPassword, isOutdated, isPassword, requireGoodPassword } from './passwords.ts'
import * as queries from './queries.ts'
import type { MemberRow, OwnerInput, SignInInput } from './schema.ts'
import { requireSecondFactor } from './second-factor.ts'
import { beginSession } from './sessions.ts'
import { throttled } from './throttle.ts'

/** An address as it is stored and compared. */
export const normalEmail = (email: string): string => email.trim().toLowerCase()

/** The path of a link that creates the owner of an organisation, or null if there is one. */
export async function ownerLink(ctx: Ctx, organisationId: OrganisationId): Promise<string | null> {
  return (await queries.hasOwner(ctx, organisationId)) ? null : createLink(ctx, 'owner', organisationId, null)
}

/**
 * The context of a member who has just signed in; with a password, the one with this hash. Throws 401 if that was changed meanwhile: the sessions that
 * were to end with it are those of requests on their way too.
 */
export async function signedIn(ctx: Ctx, member: MemberRow, browser: Browser, passwordHash: string | null = null): Promise<MemberCtx> {
  const { id, organization_id: organisationId, name, role } = member
  const sessionId = await beginSession(ctx, member, browser, passwordHash)
  if (sessionId === undefined) throw signInFailed()
  return { ...ctx, organisationId, memberId: id, sessionId, role, actor: { kind: 'member', id, name } }
}

/** Creates the owner by the link of the first start, and signs in. Throws 401 if the link is not valid, and 409 if there is an owner. */
export async function createOwner(
  ctx: Ctx,
  { token, email, name, password }: OwnerInput,
  { browser, requestId }: { browser: Browser; requestId: string },
): Promise<MemberCtx> {
  requireGoodPassword(password, normalEmail(email))
  const passwordHash = await hashPassword(ctx, password)
  const owner = await inTx(ctx, async (ctx) => {
    const { organization_id: organisationId } = await useLink(ctx, ['owner'], token)
    await queries.lockMembers(ctx, organisationId)
    if (await queries.hasOwner(ctx, organisationId))
      throw new ApiError('resource_already_exists', 'The organisation already has an owner. Ask the owner for an invitation.')
    await deleteLinksOf(ctx, organisationId, ['owner'], null)
    const made = await queries.insertMember(ctx, {
      organisationId,
      email: normalEmail(email),
      name,
      role: 'owner',
      passwordHash,
      joinedAt: ctx.clock.now(),
    })
    if (!made) throw new ApiError('resource_already_exists', 'A member with this email address already exists.', { param: 'email' })
    const { id, role } = made
    const by: InTx<Ctx> = { ...ctx, actor: { kind: 'member', id, name }, origin: { via: 'console', requestId, organisationId } }
    await recordAction(by, null, 'member.created', id, { after: { email: made.email, name, role } })
    return made
  })
  return signedIn(ctx, owner, browser)
}

/** Throws 403 where members sign in at their provider only. */
export function requireLocalSignIn({ config }: Ctx): void {
  if (!config.LOCAL_SIGN_IN)
    throw new ApiError('permission_denied', `Members of this server sign in with ${config.OIDC_NAME}.`, { reason: 'single_sign_on' })
}

/** Signs in with a password. Throws the same 401, after the same time, for an unknown address and a wrong password. */
export async function signIn(ctx: Ctx, { email, password, code }: SignInInput, browser: Browser): Promise<MemberCtx> {
  requireLocalSignIn(ctx)
  return throttled(ctx, normalEmail(email), async () => {
    const member = await queries.findByEmail(ctx, normalEmail(email))
    const isRight = await isPassword(ctx, password, member?.password_hash ?? null)
    if (!member || !isRight) throw signInFailed()
    await requireSecondFactor(ctx, member, code)
    return signedIn(ctx, member, browser, await hashOf(ctx, member, password))
  })
}

const signInFailed = () =>
  new ApiError('authentication_required', 'The email address or the password is wrong.', {
    reason: 'sign_in_failed',
    headers: { 'www-authenticate': 'Bearer realm="api"' },
  })

/** The hash of a right password. One that was made with another cost is replaced while the password is known. Throws 401 if the password was changed. */
async function hashOf(ctx: Ctx, { id, organization_id, password_hash }: MemberRow, password: string): Promise<string> {
  const hash = password_hash as string
  if (!isOutdated(ctx, hash)) return hash
  const again = await hashPassword(ctx, password)
  if ((await queries.replacePasswordHash(ctx, organization_id, id, hash, again)) === 1) return again
  // Either the password was changed, or another sign-in with it was first.
  const now = (await queries.findMember(ctx, organization_id, id))?.password_hash ?? null
  if (now === null || !(await isPassword(ctx, password, now))) throw signInFailed()
  return now
}
