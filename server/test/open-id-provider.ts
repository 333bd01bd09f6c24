/** A small OpenID provider on loopback: one client, the code flow with PKCE, and ID tokens as a test wants them. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose'

const CLIENT = { id: 'carillon', secret: 'a secret of the client' }

/** What a test changes of an ID token, and the claims that only the userinfo endpoint has. */
export type TokenDeviation = {
  aud?: string
  nonce?: string
  iss?: string
  expiresInS?: number
  isForged?: boolean
  userinfo?: Record<string, unknown>
}

export type OpenIdProvider = AsyncDisposable & {
  /** The settings of a server that signs in here. */
  env: Record<string, string>
  issuer: string
  /** Signs a member in at the provider, and returns the query with which it leads back. */
  signIn(authorizationUrl: string, claims: Record<string, unknown>, deviation?: TokenDeviation): string
}

type Granted = { challenge: string; nonce: string; redirectUri: string; claims: Record<string, unknown>; deviation: TokenDeviation }

async function bodyOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const chunk of request) text += chunk
  return new URLSearchParams(text)
}

const sha256 = async (text: string) => Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(text))).toString('base64url')

/** Opens a provider. */
export async function openIdProvider(): Promise<OpenIdProvider> {
  const [{ publicKey, privateKey }, forged] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')])
  const jwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(jwk)
  const granted = new Map<string, Granted>()
  const redeemed = new Map<string, Granted>()
  let issuer = ''

  const idToken = ({ nonce, claims, deviation }: Granted) => {
    const now = Math.floor(Date.now() / 1000)
    return new SignJWT({ nonce: deviation.nonce ?? nonce, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid })
      .setIssuer(deviation.iss ?? issuer)
      .setAudience(deviation.aud ?? CLIENT.id)
      .setIssuedAt(now - 600)
      .setExpirationTime(now + (deviation.expiresInS ?? 300))
      .sign(deviation.isForged ? forged.privateKey : privateKey)
  }

  async function tokens(form: URLSearchParams): Promise<object | undefined> {
    const code = form.get('code') ?? ''
    const grant = granted.get(code)
    granted.delete(code)
    const isClient = form.get('client_id') === CLIENT.id && form.get('client_secret') === CLIENT.secret
    const isProven = grant !== undefined && grant.challenge === (await sha256(form.get('code_verifier') ?? ''))
    if (!grant || !isClient || !isProven || form.get('redirect_uri') !== grant.redirectUri) return undefined
    redeemed.set(code, grant)
    return { access_token: code, token_type: 'Bearer', expires_in: 300, id_token: await idToken(grant) }
  }

  function userinfo({ authorization = '' }: IncomingMessage['headers']): object | undefined {
    const grant = redeemed.get(authorization.replace(/^Bearer /, ''))
    return grant && { sub: grant.claims.sub, ...grant.deviation.userinfo }
  }

  const description = () => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/keys`,
    end_session_endpoint: `${issuer}/end`,
    response_types_supported: ['code'],
    id_token_signing_alg_values_supported: ['ES256'],
    subject_types_supported: ['public'],
  })

  const server = createServer(async (request, reply) => {
    const answers: Record<string, () => unknown> = {
      '/.well-known/openid-configuration': description,
      '/keys': () => ({ keys: [{ ...jwk, kid, alg: 'ES256', use: 'sig' }] }),
      '/token': async () => tokens(await bodyOf(request)),
      '/userinfo': () => userinfo(request.headers),
    }
    const found = await answers[request.url ?? '']?.()
    reply.writeHead(found ? 200 : 400, { 'content-type': 'application/json' }).end(JSON.stringify(found ?? { error: 'invalid_grant' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let codes = 0

  return {
    issuer,
    env: { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret },
    signIn(authorizationUrl, claims, deviation = {}) {
      const asked = new URL(authorizationUrl).searchParams
      const code = `code-${++codes}`
      const [challenge, nonce, redirectUri, state] = ['code_challenge', 'nonce', 'redirect_uri', 'state'].map(
        (name) => asked.get(name) ?? '',
      ) as [string, string, string, string]
      granted.set(code, { challenge, nonce, redirectUri, claims, deviation })
      return new URLSearchParams({ code, state, iss: issuer }).toString()
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
