/** Replies that go on: Server-Sent Events, each flushed as it happens, until nobody listens, the events end or the server drains. */
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Ctx } from '../runtime/ctx.ts'
import { begin } from './begin.ts'
import type { Live, LiveEvent } from './route.ts'

/** Who does not take what is left when the server drains is cut off after this time. */
const DRAIN_MAX_MS = 5000

/** Such a reply is never stored, packed or held back, and its connection serves nothing after it. */
const HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', connection: 'close', 'x-accel-buffering': 'no' }

export type LiveReplies = {
  /** Begins a reply; what goes wrong before its first event is thrown, and can still be answered. */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    headers: Record<string, string>,
    open: (signal: AbortSignal) => Promise<Live>,
  ): Promise<void>
}

/** The live replies of a server; they end when it drains. */
export function createLiveReplies(app: FastifyInstance, ctx: Ctx): LiveReplies {
  const replies = new Map<ServerResponse, AbortController>()
  const drained = new AbortController()
  let draining = false
  app.addHook('preClose', async () => {
    draining = true
    if (replies.size === 0) return
    for (const ending of replies.values()) ending.abort()
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
      const ending = new AbortController()
      replies.set(raw, ending)
      raw.once('close', () => close(raw))
      if (draining) ending.abort()
      // Who left before we listened for it leaves no other trace.
      if (raw.destroyed) close(raw)
      const { events } = await open(ending.signal)
      const parts = framed(ctx, request.id, await begin(events))
      reply.hijack()
      raw.writeHead(200, { ...headers, ...HEADERS })
      // Who leaves breaks the pipeline, which is how most of these replies end.
      void pipeline(Readable.from(parts, { objectMode: false }), raw).catch(() => close(raw))
    },
  }
}

/** Events as they are written. One that fails is told to the log; the listener finds the connection cut, and comes again. */
async function* framed(ctx: Ctx, requestId: string, events: AsyncIterable<LiveEvent>): AsyncGenerator<string> {
  try {
    for await (const event of events) yield frame(event)
  } catch (err) {
    ctx.log.error({ request_id: requestId, err }, 'live reply failed')
    throw err
  }
}

// JSON has no line breaks of its own, so that one line of data holds all of it.
const frame = (event: LiveEvent): string =>
  event === 'heartbeat' ? ':\n\n' : `id: ${event.id}\nevent: ${event.event}\ndata: ${JSON.stringify(event.data)}\n\n`
