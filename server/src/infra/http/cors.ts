import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../lib/errors.ts'
import type { CompiledRoute } from './compile.ts'
import { VARY } from './exchange.ts'

const EXPOSED = 'X-Request-Id, Service-Version, Retry-After, RateLimit, RateLimit-Policy, Idempotent-Replayed'
const ALLOWED = 'authorization, content-type, x-service-user-token, idempotency-key, service-version, last-event-id'
const PREFLIGHT_SECONDS = 7200

/** Only routes that a publishable key may use are open to browsers (D-HTTP-7). */
const isOpenToBrowsers = ({ def }: CompiledRoute): boolean => 'publishable' in def.access && def.access.publishable !== undefined

/** The CORS headers of replies. Errors need them too, because a browser would hide a 401 without them. */
export const corsHeaders = (route: CompiledRoute): Record<string, string> =>
  isOpenToBrowsers(route) ? { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED } : {}

/** Answers OPTIONS: a CORS preflight if a route is open to browsers, or else only `Allow`. Needs no key. */
export async function preflight(request: FastifyRequest, reply: FastifyReply, routes: CompiledRoute[], allow: string): Promise<void> {
  const open = routes.filter(isOpenToBrowsers)
  reply.code(204).header('x-request-id', request.id).header('allow', allow).header('vary', VARY)
  if (open.length > 0 && request.headers['access-control-request-method'] !== undefined) {
    reply.headers({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': open.map(({ def }) => def.method).join(', '),
      'access-control-allow-headers': ALLOWED,
      'access-control-max-age': String(PREFLIGHT_SECONDS),
    })
  }
  await reply.send()
}

/**
 * Checks the origin of a request with a publishable key that has a list of allowed origins, and returns the CORS header that names it. A
 * preflight names no key, so browsers learn of a refusal from the reply itself. Throws 403.
 */
export function allowOrigin({ allowedOrigins }: { allowedOrigins: string[] }, origin: string | undefined): Record<string, string> {
  if (allowedOrigins.length === 0) return {}
  if (origin !== undefined && allowedOrigins.includes(origin)) return { 'access-control-allow-origin': origin }
  const given = origin === undefined ? 'The request has no `Origin`' : `The origin \`${origin.slice(0, 255)}\` is not one of them`
  throw new ApiError('permission_denied', `This key can only be used from its \`allowed_origins\`. ${given}.`, { reason: 'origin' })
}
