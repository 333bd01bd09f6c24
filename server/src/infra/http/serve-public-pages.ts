/** Serves public pages: the endpoints that need no key. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { networkOf } from '../../lib/networks.ts'
import type { Ctx } from '../runtime/ctx.ts'
import type { EventLoopLag } from '../runtime/event-loop-lag.ts'
import { readBody } from './body.ts'
import { refuseUnderOverload } from './overload.ts'
import type { PublicPage, PublicReply } from './public-page.ts'
import type { RateLimits } from './rate-limits.ts'

const BODY_BYTES_MAX = 65_536

type Serving = {
  ctx: Ctx
  pages: PublicPage[]
  limits: RateLimits
  lag: EventLoopLag
  /** Sends the error reply for anything thrown. */
  fail(request: FastifyRequest, reply: FastifyReply, error: unknown): Promise<void>
}

/** Adds public pages to a server. */
export function addPublicPages(app: FastifyInstance, serving: Serving): void {
  for (const definition of serving.pages) {
    // In `{token}.gif`, the parameter ends before the dot.
    const url = definition.path.replace(/\{(\w+)\}(\.\w+)/g, ':$1(^[\\w-]+)$2').replace(/\{(\w+)\}/g, ':$1')
    app.route({
      method: definition.method === 'GET' ? ['GET', 'HEAD'] : definition.method,
      url,
      handler: (request, reply) => answer(serving, definition, request, reply),
    })
  }
}

async function answer(serving: Serving, definition: PublicPage, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { ctx, limits } = serving
  const started = performance.now()
  try {
    refuseUnderOverload(ctx, serving.lag, definition)
    if (!definition.unlimited) limits.spend(['page'], networkOf(request.ip), ctx.clock.now().getTime())
    const [, text = ''] = /\?(.*)$/s.exec(request.raw.url ?? '') ?? []
    const result = await definition.run(
      { ...ctx, log: ctx.log.child({ request_id: request.id }) },
      {
        params: request.params as Record<string, string>,
        query: new URLSearchParams(text),
        headers: request.headers,
        body: await readBody(ctx, request.raw, definition.bytesMax ?? BODY_BYTES_MAX),
        url: request.raw.url ?? '',
        address: request.ip,
        method: request.method,
        requestId: request.id,
      },
    )
    await send(request, reply, result)
  } catch (error) {
    await serving.fail(request, reply, error)
  } finally {
    ctx.metrics.request(definition.method, definition.path, reply.statusCode, performance.now() - started)
  }
}

async function send(request: FastifyRequest, reply: FastifyReply, { status, type, body = '', headers = {} }: PublicReply): Promise<void> {
  reply.code(status).headers({
    'x-request-id': request.id,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(type !== undefined && { 'content-type': type }),
    ...headers,
  })
  if (request.method === 'HEAD') reply.header('content-length', Buffer.byteLength(body))
  await reply.send(request.method === 'HEAD' ? '' : body)
}
