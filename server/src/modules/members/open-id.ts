/**
 * The OpenID provider of the settings, over the guarded HTTP client. Nothing is cached: sign-ins are rare, and a provider may replace its keys at
 * any time.
 */
import * as openid from 'openid-client'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { SECOND_MS } from '../../lib/times.ts'

const TIMEOUT_MS = 10 * SECOND_MS
const RESPONSE_BYTES_MAX = 1_048_576
const CLOCK_TOLERANCE_S = 60

/** What a provider says of the member who signed in. */
export type Claims = Record<string, unknown> & { iss: string; sub: string }

/** What must hold of the answer of a provider. */
export type Checks = { state: string; nonce: string; verifier: string }

const guardedFetch =
  (ctx: Ctx): openid.CustomFetch =>
  async (url, { method, headers, body }) => {
    const reply = await ctx.fetch.request({
      method: method as 'GET' | 'POST',
      url,
      headers,
      // The library sends forms, and nothing else.
      ...(body !== undefined && body !== null && { body: String(body) }),
      timeoutMs: TIMEOUT_MS,
      connectTimeoutMs: TIMEOUT_MS,
      responseBytesMax: RESPONSE_BYTES_MAX,
    })
    if (reply.is === 'failed') throw new Error(reply.message)
    return new Response(reply.body, { status: reply.status, headers: { 'content-type': String(reply.headers['content-type'] ?? '') } })
  }

/** Reads the description of the provider. Throws when it cannot be reached or is not the issuer of the settings. */
function discover(ctx: Ctx): Promise<openid.Configuration> {
  const { OIDC_ISSUER: issuer = '', OIDC_CLIENT_ID: clientId = '', OIDC_CLIENT_SECRET: secret, production } = ctx.config
  return openid.discovery(
    new URL(issuer),
    clientId,
    { [openid.clockTolerance]: CLOCK_TOLERANCE_S },
    secret === undefined ? openid.None() : openid.ClientSecretPost(secret),
    {
      [openid.customFetch]: guardedFetch(ctx),
      timeout: TIMEOUT_MS / SECOND_MS,
      // Signatures of ID tokens are checked although they come over TLS.
      execute: [openid.enableNonRepudiationChecks, ...(production ? [] : [openid.allowInsecureRequests])],
    },
  )
}

/** The address of the provider at which a member signs in. */
export async function authorizationUrl(ctx: Ctx, redirectUri: string, { state, nonce, verifier }: Checks): Promise<string> {
  const provider = await discover(ctx)
  const parameters = {
    redirect_uri: redirectUri,
    scope: ctx.config.OIDC_SCOPES,
    state,
    nonce,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }
  return openid.buildAuthorizationUrl(provider, parameters).href
}

/**
 * Redeems the code of an answer. Throws unless the ID token is signed, current, and for this sign-in. `url` is the one that the provider
 * redirected the browser to.
 */
export async function redeem(ctx: Ctx, url: URL, { state, nonce, verifier }: Checks): Promise<{ claims: Claims; idToken: string }> {
  const provider = await discover(ctx)
  const tokens = await openid.authorizationCodeGrant(provider, url, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  })
  const claims = tokens.claims() as Claims
  const isComplete = hasAddress(claims) && claims[ctx.config.OIDC_ROLE_CLAIM] !== undefined
  const more =
    isComplete || provider.serverMetadata().userinfo_endpoint === undefined
      ? {}
      : await openid.fetchUserInfo(provider, tokens.access_token, claims.sub)
  return { claims: { ...more, ...claims, ...addressIn([claims, more]) }, idToken: tokens.id_token as string }
}

type Source = Record<string, unknown>

const hasAddress = ({ email, email_verified }: Source): boolean => email !== undefined && email_verified !== undefined

/** The address with the word on whether it is verified, both from one source: the word of one says nothing about the address of another. */
function addressIn(sources: Source[]): Source {
  const { email, email_verified } = sources.find(hasAddress) ?? {}
  return { email, email_verified }
}

/** The address that ends the session at the provider. Null where it has none. */
export async function endSessionUrl(ctx: Ctx, returnUri: string, idToken: string): Promise<string | null> {
  const provider = await discover(ctx)
  if (provider.serverMetadata().end_session_endpoint === undefined) return null
  return openid.buildEndSessionUrl(provider, { post_logout_redirect_uri: returnUri, id_token_hint: idToken }).href
}
