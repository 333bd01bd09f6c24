/** Live replies: Server-Sent Events, each flushed at once, until the client disconnects, the events end or the server shuts down. */
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Ctx } from '../runtime/ctx.ts'
import { begin } from './begin.ts'
import type { Live, LiveEvent } from './route.ts'

/** How long clients have to read the remaining events at shutdown; after that, the connection is cut. */
const DRAIN_MAX_MS = 5000

/** The reply is not cached, compressed or buffered, and its connection is not reused. */
const HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', connection: 'close', 'x-accel-buffering': 'no' }

export type LiveReplies = {
  /** Starts a reply. Throws if it fails before the first event, so that an error reply can be sent. */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    headers: Record<string, string>,
    open: (signal: AbortSignal) => Promise<Live>,
  ): Promise<void>
}

/** The live replies of a server. They end when it shuts down. */
export function createLiveReplies(app: FastifyInstance, ctx: Ctx): LiveReplies {
  const replies = new Map<ServerResponse, AbortController>()
  const drained = new AbortController()
  let draining = false
  app.addHook('preClose', async () => {
    draining = true
    if (replies.size === 0) return
    for (const abortion of replies.values()) abortion.abort()
    void ctx.clock.sleep(DRAIN_MAX_MS, drained.signal).then(() => {
      for (const raw of replies.keys()) raw.destroy()
    })
  })
  const close = (raw: ServerResponse) => {
    replies.get(raw)?.abort()
    replies.delete(raw)
    if (draining && replies.size === 0) drained.abort()
  }
  return {
    async send(request, reply, headers, open) {
      if (request.method === 'HEAD') {
        await reply.headers({ ...headers, ...HEADERS }).send()
        return
      }
      const { raw } = reply
      const abortion = new AbortController()
      replies.set(raw, abortion)
      raw.once('close', () => close(raw))
      if (draining) abortion.abort()
      // A connection that closed earlier emits no `close`.
      if (raw.destroyed) close(raw)
      const { events } = await open(abortion.signal)
      const parts = framed(ctx, request.id, await begin(events))
      reply.hijack()
      raw.writeHead(200, { ...headers, ...HEADERS })
      // A client that disconnects breaks the pipeline. Most live replies end this way.
      void pipeline(Readable.from(parts, { objectMode: false }), raw).catch(() => close(raw))
    },
  }
}

/** Formats events. A failure is logged and cuts the connection, so the client reconnects. */
async function* framed(ctx: Ctx, requestId: string, events: AsyncIterable<LiveEvent>): AsyncGenerator<string> {
  try {
    for await (const event of events) yield frame(event)
  } catch (err) {
    ctx.log.error({ request_id: requestId, err }, 'live reply failed')
    throw err
  }
}

// JSON contains no line breaks, so one `data` line is enough.
const frame = (event: LiveEvent): string =>
  event === 'heartbeat' ? ':\n\n' : `id: ${event.id}\nevent: ${event.event}\ndata: ${JSON.stringify(event.data)}\n\n`
