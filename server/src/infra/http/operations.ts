/** Endpoints for operators: liveness, readiness, version and metrics. They need no key and are not rate-limited. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { VERSION } from '../../lib/versions.ts'
import { sql } from '../postgres/db.ts'
import type { Ctx } from '../runtime/ctx.ts'
import type { EventLoopLag } from '../runtime/event-loop-lag.ts'
import { isSameSecret } from '../runtime/secrets.ts'
import { within } from '../runtime/within.ts'

export type Operations = {
  ctx: Ctx
  /** Reports the queues in the metrics. */
  queues: () => Promise<void>
  connections: () => { total: number; idle: number; waiting: number }
  lag: EventLoopLag
}

/** What readiness depends on besides the database, by name: `ok` or what is wrong. */
export type Checks = () => Record<string, string>

export type Answer = { status: number; type: string; body: string }

/** The answer of each path, given the header `Authorization`. */
export type Answers = Record<string, (authorization: string | undefined) => Promise<Answer>>

/**
 * Probes wait for five seconds and Prometheus for ten; the server waits as long for a connection to the database, and for ever if its host
 * vanished. Long queues take seconds to count.
 */
const DATABASE_WITHIN_MS = 4000
const QUEUES_WITHIN_MS = 8000

const Mode = Type.Object({ read_only: Type.Boolean() })
const JSON_TYPE = 'application/json; charset=utf-8'

const json = (status: number, body: object): Answer => ({ status, type: JSON_TYPE, body: JSON.stringify(body) })

/** Adds the endpoints. Call the returned function when the server starts to shut down, so that `/readyz` reports it. */
export function addOperations(app: FastifyInstance, operations: Operations): () => void {
  let draining = false
  const { config } = operations.ctx
  const answers = answersOf(operations, {
    isOpen: !config.production,
    checks: () => ({ draining: draining ? 'yes' : 'no' }),
    isReady: () => !draining,
  })
  for (const [url, answer] of Object.entries(answers))
    app.route({
      method: ['GET', 'HEAD'],
      url,
      async handler(request, reply) {
        const { status, type, body } = await answer(request.headers.authorization)
        return reply.code(status).headers(HEADERS).type(type).send(body)
      },
    })
  return () => {
    draining = true
  }
}

export const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** `isOpen`: the metrics need no token while METRICS_TOKEN is not set. */
export type Rules = { isOpen: boolean; checks: Checks; isReady: () => boolean }

/** The answers of the endpoints. */
export function answersOf({ ctx, queues, connections, lag }: Operations, { isOpen, checks, isReady }: Rules): Answers {
  const alive = async () => json(200, { status: 'ok' })
  return {
    '/livez': alive,
    '/healthz': alive,
    '/version': async () => json(200, { version: VERSION }),
    '/readyz': async () => {
      const found = { ...checks(), database: await checkDatabase(ctx) }
      // With a log, requests are accepted while the database is away.
      const ready = isReady() && (found.database === 'ok' || ctx.acceptedLog !== undefined)
      return json(ready ? 200 : 503, { status: ready ? 'ok' : 'unavailable', checks: found })
    },
    '/metrics': async (authorization) => {
      if (!mayReadMetrics(ctx, authorization, isOpen))
        return json(401, { status: 'error', message: 'Set METRICS_TOKEN and send it as a bearer token.' })
      ctx.metrics.pool(connections())
      ctx.metrics.eventLoopLag(lag())
      await readQueues(ctx, queues)
      const { text, type } = await ctx.metrics.exposition()
      return { status: 200, type, body: text }
    },
  }
}

/**
 * Reads the queues. If that fails or takes long, the metrics are served without them, and say so: those of requests tell what callers see.
 * Whether the database answers is asked beside it.
 */
async function readQueues(ctx: Ctx, queues: Operations['queues']): Promise<void> {
  const asked = checkDatabase(ctx)
  const areRead = await within(ctx, QUEUES_WITHIN_MS, queues).then(
    () => true,
    (error) => {
      ctx.log.warn({ err: error }, 'the queues could not be read for the metrics')
      return false
    },
  )
  ctx.metrics.databaseUp((await asked) !== 'unreachable')
  ctx.metrics.queuesRead(areRead)
}

async function checkDatabase(ctx: Ctx): Promise<'ok' | 'unreachable' | 'read-only'> {
  try {
    const asked = () => ctx.db.first(Mode, sql`select current_setting('transaction_read_only')::boolean as read_only`)
    const mode = await within(ctx, DATABASE_WITHIN_MS, asked)
    return mode?.read_only ? 'read-only' : 'ok'
  } catch {
    return 'unreachable'
  }
}

const mayReadMetrics = ({ config }: Ctx, authorization: string | undefined, isOpen: boolean) =>
  config.METRICS_TOKEN === undefined ? isOpen : isSameSecret(authorization ?? '', `Bearer ${config.METRICS_TOKEN}`)
