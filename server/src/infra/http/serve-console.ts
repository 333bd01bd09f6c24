/** Serves the routes of the console, which have no key: a session, or nothing for those that begin one (D-CON-4). */
import { ApiError } from '../../lib/errors.ts'
import { networkOf } from '../../lib/networks.ts'
import { organisationAtLeast } from '../../lib/roles.ts'
import type { Actor, Ctx, MemberCtx, Origin } from '../runtime/ctx.ts'
import { childWhenUsed } from '../runtime/log.ts'
import { authenticateMember } from './authenticate.ts'
import type { CompiledRoute } from './compile.ts'
import type { Exchange, Serving } from './exchange.ts'
import { bodyOf, handle } from './handle.ts'
import type { StoredReply } from './idempotency.ts'
import type { ConsoleAccess } from './route.ts'
import { browserOf, requireOwnPage } from './session-cookie.ts'

/** Serves one request, in the order of D-HTTP-1. */
export async function serveConsole(
  serving: Serving,
  route: CompiledRoute,
  access: ConsoleAccess,
  exchange: Exchange,
): Promise<StoredReply> {
  const { ctx } = serving
  const inner = 'open' in access ? openContext(serving, exchange) : await memberContext(serving, route, access, exchange)
  const body = await bodyOf(ctx, route, exchange.request)
  return await handle(serving, inner, route, { ...body, browser: browserOf(ctx, exchange) }, exchange)
}

function openContext({ ctx, limits }: Serving, { request, requestId, headers }: Exchange): Ctx {
  Object.assign(headers, limits.spend(['sign-in'], networkOf(request.ip), ctx.clock.now().getTime()))
  requireOwnPage(ctx, request, false)
  return { ...ctx, log: childWhenUsed(ctx.log, { request_id: requestId }) }
}

async function memberContext(
  serving: Serving,
  { def }: CompiledRoute,
  { member: needed }: Extract<ConsoleAccess, { member: unknown }>,
  exchange: Exchange,
): Promise<MemberCtx> {
  const { ctx, limits } = serving
  const { sessionId, memberId, name, organisationId, role } = await authenticateMember(serving, exchange, def.isUse ?? true)
  const bucket = def.bucket ?? (def.method === 'GET' ? 'read' : 'write')
  Object.assign(exchange.headers, limits.spend([bucket], `member:${memberId}`, ctx.clock.now().getTime()))
  if (!organisationAtLeast(role, needed))
    throw new ApiError('permission_denied', 'Your role in the organisation does not permit this operation.', { reason: 'role' })
  const log = childWhenUsed(ctx.log, { request_id: exchange.requestId, member_id: memberId })
  const actor: Actor = { kind: 'member', id: memberId, name }
  const origin: Origin = { via: 'console', requestId: exchange.requestId, organisationId }
  return { ...ctx, log, organisationId, memberId, sessionId, role, actor, origin }
}
