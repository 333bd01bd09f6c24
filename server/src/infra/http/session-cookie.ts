/** The session cookie of the console (D-CON-3), and the pages that may use it (D-CON-5). */
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../../lib/errors.ts'
import type { Ctx } from '../runtime/ctx.ts'
import { type Exchange, single } from './exchange.ts'
import type { Browser, SessionToken } from './route.ts'

/** Browsers accept a cookie with this prefix only over HTTPS, from the host itself and for all of its paths. */
const SECURE_NAME = '__Host-carillon'
/** Over plain HTTP. Not every browser takes a cookie that is `Secure` from http://localhost. */
const PLAIN_NAME = 'carillon'

const TOKEN = /^[\w-]{43}$/
const USER_AGENT_LENGTH_MAX = 255

const isSecure = (ctx: Ctx, request: FastifyRequest): boolean => request.protocol === 'https' || ctx.baseUrl().startsWith('https:')

const nameOf = (ctx: Ctx, request: FastifyRequest): string => (isSecure(ctx, request) ? SECURE_NAME : PLAIN_NAME)

/** The session token of a request, or undefined. The other name does not count, so that plain HTTP cannot plant a session. */
export function sessionTokenOf(ctx: Ctx, request: FastifyRequest): string | undefined {
  const prefix = `${nameOf(ctx, request)}=`
  const pair = request.headers.cookie
    ?.split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(prefix))
  const token = pair?.slice(prefix.length)
  return token !== undefined && TOKEN.test(token) ? token : undefined
}

export function setSessionCookie(ctx: Ctx, { request, headers }: Exchange, { token, expiresAt }: SessionToken): void {
  const seconds = Math.max(0, Math.floor((expiresAt.getTime() - ctx.clock.now().getTime()) / 1000))
  headers['set-cookie'] =
    `${nameOf(ctx, request)}=${token}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure(ctx, request) ? '; Secure' : ''}`
}

/** What a route of the console may know about the browser, and do with its cookie. */
export const browserOf = (ctx: Ctx, exchange: Exchange): Browser => ({
  address: exchange.request.ip,
  userAgent: (single(exchange.request, 'user-agent') ?? '').slice(0, USER_AGENT_LENGTH_MAX).toWellFormed(),
  setSession: (token) => setSessionCookie(ctx, exchange, token),
  clearSession: () => setSessionCookie(ctx, exchange, { token: '', expiresAt: ctx.clock.now() }),
})

/**
 * Throws 403 unless a request that changes something was made by a page of this server. Browsers say so in `Sec-Fetch-Site`, older ones only
 * in `Origin`. A request with a session must have one of them; one without is not from a browser.
 */
export function requireOwnPage(ctx: Ctx, request: FastifyRequest, hasSession: boolean): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  const site = single(request, 'sec-fetch-site')
  const origin = single(request, 'origin')
  if (site !== undefined) {
    if (site === 'same-origin') return
  } else if (origin !== undefined ? isOwnOrigin(ctx, request, origin) : !hasSession) return
  throw new ApiError(
    'permission_denied',
    'A session can only be used by the pages of this server. Send `Sec-Fetch-Site: same-origin`, or the `Origin` of this server.',
    { reason: 'origin' },
  )
}

/** Behind a proxy, the host of the request may be another one than that of BASE_URL. */
function isOwnOrigin(ctx: Ctx, request: FastifyRequest, origin: string): boolean {
  if (!URL.canParse(origin)) return false
  const { host } = new URL(origin)
  return origin === new URL(ctx.baseUrl()).origin || (host !== '' && host === request.headers.host)
}
