/** Finds out who makes a request: a key in the Authorization header, or a member by the session cookie of the console. */
import type { FastifyRequest } from 'fastify'
import { unauthenticated } from '../../lib/credentials.ts'
import { ApiError } from '../../lib/errors.ts'
import type { ProjectId, UserId } from '../../lib/ids.ts'
import type { Ctx } from '../runtime/ctx.ts'
import { type Exchange, type Serving, single } from './exchange.ts'
import type { RateLimits } from './rate-limits.ts'
import type { Authenticator, Credential, MemberSession } from './route.ts'
import { requireOwnPage, sessionTokenOf, setSessionCookie } from './session-cookie.ts'

const KEY = /^Bearer +((?:sk|pk|ok)_[A-Za-z0-9_-]{16,250})$/i

/** The credential of a request. A key wins over a session: with an Authorization header, cookies do not count (D-CON-4). */
export async function authenticate({ ctx, authenticator, limits }: Serving, exchange: Exchange): Promise<Credential> {
  const { request, logFields } = exchange
  return counted(ctx, limits, request, async () => {
    const token = hasKey(request) ? undefined : sessionTokenOf(ctx, request)
    const credential =
      token === undefined
        ? await authenticator.authenticate(ctx, keyOf(request))
        : await authenticator.memberCredential(ctx, await openSession(ctx, authenticator, exchange, token), projectOf(request))
    exchange.credential = credential
    logFields.key_id = credential.keyId
    if ('projectId' in credential) logFields.project_id = credential.projectId
    return credential
  })
}

/** The session of a request to a route of the console that needs one. Throws 401, and 403 for a key. */
export async function authenticateMember(
  { ctx, authenticator, limits }: Serving,
  exchange: Exchange,
  isUse: boolean,
): Promise<MemberSession> {
  const { request } = exchange
  return counted(ctx, limits, request, async () => {
    if (hasKey(request)) {
      await authenticator.authenticate(ctx, keyOf(request))
      throw new ApiError('permission_denied', 'A key cannot be used here. Sign in to the console.', { reason: 'key_kind' })
    }
    const token = sessionTokenOf(ctx, request)
    if (token === undefined) throw unauthenticated('session_missing')
    return openSession(ctx, authenticator, exchange, token, isUse)
  })
}

async function openSession(
  ctx: Ctx,
  authenticator: Authenticator,
  exchange: Exchange,
  token: string,
  isUse = true,
): Promise<MemberSession> {
  requireOwnPage(ctx, exchange.request, true)
  const session =
    isUse && !isBackground(exchange.request) ? await authenticator.sessionOf(ctx, token) : await authenticator.peekSession(ctx, token)
  exchange.logFields.member_id = session.memberId
  if (session.renewed) setSessionCookie(ctx, exchange, session.renewed)
  return session
}

/** A page of the console made the request by itself, without input of its member. */
const isBackground = (request: FastifyRequest): boolean => single(request, 'carillon-background') === '1'

/** The project that the console shows. Without it, a request is about the organisation. */
function projectOf(request: FastifyRequest): ProjectId | null {
  const text = single(request, 'carillon-project')
  if (text === undefined) return null
  const id = /^\d{1,16}$/.test(text.trim()) ? Number(text) : 0
  return (Number.isSafeInteger(id) ? id : 0) as ProjectId
}

/** Counts failed authentications, so that an address cannot keep trying. */
export async function counted<T>(ctx: Ctx, limits: RateLimits, request: FastifyRequest, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) limits.failedAuthentication(request.ip, ctx.clock.now().getTime())
    throw error
  }
}

const hasKey = (request: FastifyRequest): boolean => authorizationsOf(request.raw.rawHeaders).length > 0

function keyOf(request: FastifyRequest): string {
  const headers = authorizationsOf(request.raw.rawHeaders)
  const [header] = headers
  if (header === undefined || header.trim() === '') throw unauthenticated('key_missing')
  const key = headers.length === 1 ? KEY.exec(header.trim())?.[1] : undefined
  if (key) return key
  if (headers.length === 1 && header.trim().toLowerCase() === 'bearer') throw unauthenticated('key_empty')
  throw unauthenticated(/^Bearer +[!-~]+$/i.test(header.trim()) && headers.length === 1 ? 'key_invalid' : 'key_malformed')
}

/** All headers of this name: Node gives only the first of them in `headers`. */
function authorizationsOf(rawHeaders: string[]): string[] {
  const found: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length === 'authorization'.length && name.toLowerCase() === 'authorization') found.push(rawHeaders[at + 1] as string)
  }
  return found
}

/** Authenticates the user of an earlier request again. Spends no rate limit. */
export async function authenticateAgain(ctx: Ctx, authenticator: Authenticator, request: FastifyRequest): Promise<UserId> {
  const credential = await authenticator.authenticate(ctx, keyOf(request))
  const token = single(request, 'x-service-user-token')
  if (token === undefined || !('projectId' in credential)) throw unauthenticated('user_token_missing')
  return authenticator.userOf(ctx, credential, token.trim())
}

/** Looks up the key or the session of an earlier request again. Spends no rate limit and keeps no session from ending. */
export async function credentialAgain(ctx: Ctx, authenticator: Authenticator, request: FastifyRequest): Promise<Credential> {
  const token = hasKey(request) ? undefined : sessionTokenOf(ctx, request)
  if (token === undefined) return authenticator.authenticate(ctx, keyOf(request))
  return authenticator.memberCredential(ctx, await authenticator.peekSession(ctx, token), projectOf(request))
}
