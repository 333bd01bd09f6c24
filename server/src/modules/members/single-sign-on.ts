/**
 * Single sign-on (D-CON-12): members sign in at the OpenID provider of the settings, with the authorisation code flow, PKCE, a state and a nonce. What is on
 * its way is stored and used once, and bound to the browser that began.
 */
import type { Browser } from '../../infra/http/route.ts'
import type { Ctx, MemberCtx } from '../../infra/runtime/ctx.ts'
import { sha256 } from '../../infra/runtime/secrets.ts'
import { isEmail } from '../../lib/email.ts'
import { ApiError } from '../../lib/errors.ts'
import { MINUTE_MS } from '../../lib/times.ts'
import { identifiedMember } from './identified-member.ts'
import { groupsOf, mappedRoles } from './mapped-roles.ts'
import { authorizationUrl, type Checks, type Claims, endSessionUrl, redeem } from './open-id.ts'
import type { SingleSignOnAnswer, SingleSignOnStart } from './schema.ts'
import type { Holder } from './second-factor.queries.ts'
import { signedIn } from './sign-in.ts'
import * as queries from './single-sign-on.queries.ts'

const TOKEN_BYTES = 32
const REDIRECT_MS = 10 * MINUTE_MS

/** Whether the settings name a provider. */
export const hasProvider = ({ config }: Ctx): boolean => config.OIDC_ISSUER !== undefined

/** Whether the provider of the settings has named the member before. */
export async function signsInAtProvider(ctx: Ctx, holder: Holder): Promise<boolean> {
  const { OIDC_ISSUER: issuer } = ctx.config
  if (issuer === undefined) return false
  // As discovery compares them: a host alone is the same with and without a slash.
  const { href } = new URL(issuer)
  return (await queries.issuersOf(ctx, holder)).some((known) => URL.parse(known)?.href === href)
}

const redirectUri = (ctx: Ctx): string => `${ctx.baseUrl()}/sign-in/callback`
const contextOf = (state: string) => `sign_in_redirect:${sha256(state)}`
const idTokenContext = (sessionId: number) => `id_token:${sessionId}`
/** Why a request to the provider failed. The rest of such an error can contain what the provider says of a person. */
const reasonOf = (error: unknown) => (error instanceof Error ? error.message : 'unknown')
const newToken = (ctx: Ctx) => ctx.secrets.random(TOKEN_BYTES).toString('base64url')

function requireProvider(ctx: Ctx): void {
  if (!hasProvider(ctx)) throw new ApiError('validation_failed', 'Single sign-on is not set up on this server.')
}

/**
 * Begins a sign-in. Returns the URL that the browser goes to, and the value that it keeps to prove that it began the sign-in. Throws 422
 * when the provider cannot be reached.
 */
export async function beginSingleSignOn(ctx: Ctx): Promise<SingleSignOnStart> {
  requireProvider(ctx)
  const [state, nonce, verifier, binding] = [newToken(ctx), newToken(ctx), newToken(ctx), newToken(ctx)]
  const url = await authorizationUrl(ctx, redirectUri(ctx), { state, nonce, verifier }).catch((error: unknown) => {
    ctx.log.warn({ reason: reasonOf(error) }, 'single sign-on cannot begin')
    throw new ApiError(
      'validation_failed',
      'The single sign-on provider cannot be reached. Try again, or contact the operator of this server.',
    )
  })
  await queries.insertRedirect(ctx, {
    stateHash: sha256(state),
    bindingHash: sha256(binding),
    sealed: ctx.secrets.seal(JSON.stringify({ nonce, verifier }), contextOf(state)),
    expiresAt: new Date(ctx.clock.now().getTime() + REDIRECT_MS),
  })
  return { url, binding }
}

/** What the answer must match. Throws 401 for an answer that was used, is late, or that another browser began. */
async function useRedirect(ctx: Ctx, state: string, binding: string): Promise<Checks> {
  const redirect = await queries.useRedirect(ctx, sha256(state), sha256(binding))
  if (!redirect) throw refused('This sign-in has already been completed, has expired, or began in another browser. Begin again.')
  return { state, ...(JSON.parse(ctx.secrets.open(redirect.sealed, contextOf(state))) as Omit<Checks, 'state'>) }
}

const refused = (message: string) =>
  new ApiError('authentication_required', message, { reason: 'single_sign_on', headers: { 'www-authenticate': 'Bearer realm="api"' } })

/**
 * Finishes a sign-in with the parameters that the provider sent the browser back with. Throws 401 for an invalid answer, and 403 for
 * members without a role.
 */
export async function finishSingleSignOn(
  ctx: Ctx,
  { parameters, binding }: SingleSignOnAnswer,
  { browser, requestId }: { browser: Browser; requestId: string },
): Promise<MemberCtx> {
  requireProvider(ctx)
  const url = new URL(`${redirectUri(ctx)}?${parameters}`)
  const checks = await useRedirect(ctx, url.searchParams.get('state') ?? '', binding)
  const { claims, idToken } = await redeem(ctx, url, checks).catch((error: unknown) => {
    ctx.log.warn({ reason: reasonOf(error) }, 'single sign-on refused')
    throw refused('The single sign-on provider did not confirm the sign-in. Begin again.')
  })
  const email = verifiedEmail(ctx, claims)
  const { OIDC_ROLES: mapping, OIDC_ROLE_CLAIM: claim } = ctx.config
  const isMapped = Object.keys(mapping).length > 0
  const roles = isMapped ? mappedRoles(groupsOf(claims, claim), mapping) : undefined
  if (isMapped && !roles) throw withoutRole()
  const name = typeof claims.name === 'string' && claims.name.trim() !== '' ? claims.name.trim().slice(0, 255) : email
  const member = await identifiedMember(ctx, { identity: { issuer: claims.iss, subject: claims.sub }, email, name, roles }, requestId)
  if (!member) throw withoutRole()
  const signed = await signedIn(ctx, member, browser)
  await queries.keepIdToken(ctx, signed.organisationId, signed.sessionId, ctx.secrets.seal(idToken, idTokenContext(signed.sessionId)))
  return signed
}

const withoutRole = () =>
  new ApiError('permission_denied', 'You have no role in this organisation. Ask an admin for one.', { reason: 'role' })

/** The address that the provider vouches for. Throws 403. */
function verifiedEmail({ config }: Ctx, { email, email_verified }: Claims): string {
  const isVerified = email_verified === true || email_verified === 'true'
  if (typeof email !== 'string' || !isEmail(email) || !isVerified)
    throw new ApiError('permission_denied', 'The single sign-on provider has not verified your email address.', {
      reason: 'single_sign_on',
    })
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
  const { OIDC_EMAIL_DOMAINS: domains } = config
  if (domains.length > 0 && !domains.some((allowed) => allowed.toLowerCase() === domain))
    throw new ApiError('permission_denied', 'This server does not accept sign-ins from your email domain. Ask its operator.', {
      reason: 'single_sign_on',
    })
  return email.trim().toLowerCase()
}

/**
 * The URL that also ends the session of a request at the provider; null for sessions that began in another way, and when the provider has
 * no such URL or cannot be reached.
 */
export async function providerSignOutUrl(ctx: MemberCtx): Promise<string | null> {
  const sealed = hasProvider(ctx) ? await queries.findIdToken(ctx) : null
  if (sealed === null) return null
  const idToken = ctx.secrets.open(sealed, idTokenContext(ctx.sessionId))
  return endSessionUrl(ctx, `${ctx.baseUrl()}/sign-in`, idToken).catch((error: unknown) => {
    ctx.log.warn({ reason: reasonOf(error) }, 'signing out at the provider failed')
    return null
  })
}
