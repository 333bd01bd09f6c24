/** Endpoints for operators: liveness, readiness, version and metrics. They need no key and are not rate-limited. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { VERSION } from '../../lib/versions.ts'
import { sql } from '../postgres/db.ts'
import type { Ctx } from '../runtime/ctx.ts'
import type { EventLoopLag } from '../runtime/event-loop-lag.ts'
import { isSameSecret } from '../runtime/secrets.ts'

export type Operations = {
  ctx: Ctx
  queues: () => Promise<void>
  connections: () => { total: number; idle: number; waiting: number }
  lag: EventLoopLag
}

const Mode = Type.Object({ read_only: Type.Boolean() })

/** Adds the endpoints. Call the returned function when the server starts to shut down, so that `/readyz` reports it. */
export function addOperations(app: FastifyInstance, { ctx, queues, connections, lag }: Operations): () => void {
  let draining = false
  const answer = (reply: FastifyReply, status: number, body: object) =>
    reply
      .code(status)
      .header('cache-control', 'no-store')
      .header('x-content-type-options', 'nosniff')
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(body))
  const get = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => unknown) =>
    app.route({ method: ['GET', 'HEAD'], url, handler })

  get('/livez', (_, reply) => answer(reply, 200, { status: 'ok' }))
  get('/healthz', (_, reply) => answer(reply, 200, { status: 'ok' }))
  get('/version', (_, reply) => answer(reply, 200, { version: VERSION }))
  get('/readyz', async (_, reply) => {
    const checks = { draining: draining ? 'yes' : 'no', database: await checkDatabase(ctx) }
    const ready = !draining && checks.database === 'ok'
    return answer(reply, ready ? 200 : 503, { status: ready ? 'ok' : 'unavailable', checks })
  })
  get('/metrics', async (request, reply) => {
    if (!mayReadMetrics(ctx, request))
      return answer(reply, 401, { status: 'error', message: 'Set METRICS_TOKEN and send it as a bearer token.' })
    ctx.metrics.pool(connections())
    ctx.metrics.eventLoopLag(lag())
    await queues()
    const { text, type } = await ctx.metrics.exposition()
    return reply.type(type).send(text)
  })
  return () => {
    draining = true
  }
}

async function checkDatabase(ctx: Ctx): Promise<'ok' | 'unreachable' | 'read-only'> {
  try {
    const mode = await ctx.db.first(Mode, sql`select current_setting('transaction_read_only')::boolean as read_only`)
    return mode?.read_only ? 'read-only' : 'ok'
  } catch {
    return 'unreachable'
  }
}

const mayReadMetrics = ({ config }: Ctx, request: FastifyRequest) =>
  config.METRICS_TOKEN === undefined
    ? !config.production
    : isSameSecret(request.headers.authorization ?? '', `Bearer ${config.METRICS_TOKEN}`)
