import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../runtime/config.ts'
import type { Ctx } from '../runtime/ctx.ts'
import type { CompiledRoute } from './compile.ts'
import { type Exchange, single } from './exchange.ts'
import { viaOf } from './serve.ts'
import type { LogRequest } from './served-request.ts'

/** The requests of each server that succeeded, for a sample of them. */
const succeeded = new WeakMap<Config, number>()

/** Successful requests are logged as LOG_SUCCESS_EVERY says, all others always. */
function isLogged(config: Config, status: number): boolean {
  if (status < 200 || status > 299 || config.LOG_SUCCESS_EVERY === 1) return true
  if (config.LOG_SUCCESS_EVERY === 0) return false
  const count = succeeded.get(config) ?? 0
  succeeded.set(config, count + 1)
  return count % config.LOG_SUCCESS_EVERY === 0
}

/** Counts a request in the metrics, logs it, and gives it to the API log of its project. */
export function recordRequest(
  { ctx, logRequest }: { ctx: Ctx; logRequest?: LogRequest },
  request: FastifyRequest,
  reply: FastifyReply,
  route: CompiledRoute,
  exchange: Exchange,
  elapsedMs: number,
) {
  const { def } = route
  ctx.tracing?.request(
    {
      name: `${def.method} ${def.path}`,
      kind: 'server',
      requestId: exchange.requestId,
      startedAt: new Date(ctx.clock.now().getTime() - elapsedMs),
      attributes: { 'http.request.method': def.method, 'http.route': def.path, 'http.response.status_code': reply.statusCode },
    },
    { elapsedMs, failed: reply.statusCode >= 500 },
    single(request, 'traceparent'),
  )
  ctx.metrics.request(def.method, def.path, reply.statusCode, elapsedMs)
  const client_request_id = String(request.headers['x-request-id'] ?? '').slice(0, 200) || undefined
  const fields = {
    request_id: exchange.requestId,
    client_request_id,
    ...exchange.logFields,
    method: request.method,
    route: def.path,
    status: reply.statusCode,
    elapsed_ms: Math.round(elapsedMs),
  }
  if (isLogged(ctx.config, reply.statusCode)) ctx.log.info(fields, 'request')
  if (logRequest) keep(logRequest, request, reply, route, exchange, elapsedMs)
}

/** Gives a request to the API log, if it is of a project. */
function keep(
  logRequest: LogRequest,
  request: FastifyRequest,
  { statusCode }: FastifyReply,
  { def }: CompiledRoute,
  { credential, body, error, requestId, headers }: Exchange,
  elapsedMs: number,
) {
  if (!credential || !('projectId' in credential)) return
  logRequest({
    route: def,
    projectId: credential.projectId,
    actor: credential.actor,
    via: viaOf(credential, request),
    requestId,
    params: request.params as Record<string, string>,
    query: (request.query as { text: string }).text,
    body,
    status: statusCode,
    error,
    originalRequest: headers['original-request'],
    elapsedMs,
  })
}
