/** A server on loopback that keeps the requests that it gets, and a clock for the client that asks it. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../../../sdk/src/index.ts'
import type { World } from '../world.ts'

export type Counted = { method: string; url: string; headers: Record<string, string>; body: string }

type GivenReply = {
  status: number
  headers?: Record<string, string>
  body?: unknown
  /** Something else than Carillon replies: without the headers of the API. */
  isForeign?: true
}

/** A reply. `cut`: the connection is closed without one. `hang`: there is none. */
export type Given = GivenReply | 'cut' | 'hang'

export type CountingServer = AsyncDisposable & {
  baseUrl: string
  requests: Counted[]
  /** Resolves when so many requests have come. */
  reached(count: number): Promise<void>
}

/** Starts a server. `answer` gets each request with its number, from 0. */
export async function openCountingServer(answer: (request: Counted, at: number) => Given | Promise<Given>): Promise<CountingServer> {
  const requests: Counted[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = '', url = '', headers } = request
    const counted = { method, url, headers: headers as Record<string, string>, body: Buffer.concat(chunks).toString('utf8') }
    requests.push(counted)
    const at = requests.length - 1
    server.emit('counted')
    give(response, await answer(counted, at))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async reached(count) {
      while (requests.length < count) await once(server, 'counted')
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function give(response: ServerResponse, given: Given): void {
  if (given === 'hang') return
  if (given === 'cut') {
    response.destroy()
    return
  }
  const { status, headers = {}, body, isForeign } = given
  const ofApi = isForeign ? {} : { 'service-version': '2026-11-20' }
  response.writeHead(status, { ...ofApi, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers })
  response.end(body === undefined || headers['content-type'] !== undefined ? body : JSON.stringify(body))
}

/** Passes requests on to the server of a world. */
export const forwardTo =
  (w: World) =>
  async ({ method, url, headers, body }: Counted): Promise<Given> => {
    const { host, connection, 'content-length': length, 'accept-encoding': encoding, ...passed } = headers
    const reply = await w.request(method, url, undefined, { key: null, headers: passed, ...(body !== '' && { raw: body }) })
    const { 'x-request-id': requestId = '', etag } = reply.headers
    return {
      status: reply.status,
      headers: { 'x-request-id': requestId, ...(etag !== undefined && { etag }) },
      ...(reply.body !== undefined && { body: reply.body }),
    }
  }

/** An error as the API sends it. */
export const refusal = (status: number, code: string, more: { reason?: string; headers?: Record<string, string> } = {}): Given => ({
  status,
  headers: more.headers ?? {},
  body: {
    code,
    message: 'No.',
    request_id: 'req_1',
    error: { code, message: 'No.', doc_url: 'd', ...(more.reason && { reason: more.reason }) },
  },
})

export type ClientClock = Clock & {
  /** The waits that were skipped, in milliseconds. */
  waits: number[]
  advance(ms: number): void
  /** How many timers are set. */
  timers(): number
}

/** A clock that only moves when the test moves it; but waits shorter than `skippedMs` take no time. */
export function createClientClock(skippedMs = 0): ClientClock {
  let time = Date.parse('2026-11-23T09:00:00.000Z')
  let timers: { due: number; run: () => void }[] = []
  const waits: number[] = []
  return {
    waits,
    now: () => time,
    after(ms, run) {
      if (ms < skippedMs) {
        waits.push(ms)
        time += ms
        queueMicrotask(run)
        return () => undefined
      }
      const timer = { due: time + ms, run }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    advance(ms) {
      time += ms
      const due = timers.filter((timer) => timer.due <= time)
      timers = timers.filter((timer) => timer.due > time)
      for (const { run } of due) run()
    },
    timers: () => timers.length,
  }
}
