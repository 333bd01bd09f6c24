/** User tokens: short-lived JWTs (HS256) that restrict a publishable key to one user (D-SESS-1 to D-SESS-3). */
import { errors, jwtVerify, SignJWT } from 'jose'
import type { Ctx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import { unauthenticated } from '../../lib/credentials.ts'
import { type KeyId, type ProjectId, type UserId, ulid } from '../../lib/ids.ts'
import { isKeyAlive } from './queries.ts'

const AUDIENCE = 'user-session'

/** The signing keys, newest first. The first signs; all of them verify. */
const signingKeys = (ctx: Ctx) =>
  ctx.config.SESSION_JWT_KEYS.map((entry) => {
    const at = entry.indexOf(':')
    return { kid: entry.slice(0, at), secret: Buffer.from(entry.slice(at + 1)) }
  })

/** Creates a token for a user of this project. It is bound to the key that requested it. */
export async function mintUserToken(ctx: ProjectCtx, keyId: KeyId, userId: UserId): Promise<{ token: string; expires_at: Date }> {
  const [newest] = signingKeys(ctx)
  if (!newest) throw new Error('SESSION_JWT_KEYS contains no key.')
  const now = ctx.clock.now()
  const issuedAt = Math.floor(now.getTime() / 1000)
  const expiresAt = issuedAt + ctx.config.USER_TOKEN_TTL_S
  const token = await new SignJWT({ pid: ctx.projectId, kid_src: keyId })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: newest.kid })
    .setIssuer(ctx.config.BASE_URL ?? 'carillon')
    .setAudience(AUDIENCE)
    .setSubject(String(userId))
    .setJti(`ust_${ulid(now, ctx.secrets.random(10))}`)
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .sign(newest.secret)
  return { token, expires_at: new Date(expiresAt * 1000) }
}

/** Returns the user of a token of this project. Throws 401, also if the key that created the token is archived. */
export async function verifyUserToken(ctx: Ctx, projectId: ProjectId, token: string): Promise<UserId> {
  const payload = await payloadOf(ctx, token)
  const userId = Number(payload.sub)
  if (payload.pid !== projectId || !Number.isSafeInteger(userId) || userId < 1) throw unauthenticated('user_token_invalid')
  if (!(await isKeyAlive(ctx, projectId, payload.kid_src as KeyId))) throw unauthenticated('user_token_invalid')
  return userId as UserId
}

async function payloadOf(ctx: Ctx, token: string) {
  const keys = signingKeys(ctx)
  try {
    const { payload } = await jwtVerify(
      token,
      ({ kid }) => {
        const key = keys.find((key) => key.kid === kid)
        if (!key) throw new errors.JWSInvalid('Unknown kid.')
        return key.secret
      },
      {
        algorithms: ['HS256'],
        audience: AUDIENCE,
        issuer: ctx.config.BASE_URL ?? 'carillon',
        currentDate: ctx.clock.now(),
        clockTolerance: 0,
        requiredClaims: ['sub', 'exp', 'pid', 'kid_src'],
      },
    )
    return payload
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw unauthenticated('user_token_expired')
    if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof SyntaxError)
      throw unauthenticated('user_token_invalid')
    throw error
  }
}
