/** A fake provider: HTTPS on loopback, in HTTP/1.1 and HTTP/2, with the replies that the test sets. */
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { inject } from 'vitest'
import { issueCertificate, loadOrCreateAuthority } from '../src/infra/outgoing/dev-authority.ts'
import { createSafeFetch, type SafeFetch } from '../src/infra/outgoing/safe-fetch.ts'
import { egressPolicy } from '../src/lib/egress.ts'

/** A reply. `refused`: the connection is refused. `cut`: the connection is closed after the request. `hang`: there is no reply. */
export type FakeReply = { status: number; headers?: Record<string, string>; body?: string | object } | 'refused' | 'cut' | 'hang'

/** A received request. `url` is the one that the caller requested. */
export type FakeRequest = {
  method: string
  url: string
  headers: Record<string, string>
  bytes: Buffer
  body: string
  json: unknown
  form: Record<string, string>
}

export type FakeProvider = AsyncDisposable & {
  host: string
  port: number
  /** The HTTP client of the server. All of its requests are sent here, whatever their host. */
  fetch: SafeFetch
  requests: FakeRequest[]
  /** Sets the replies to the next requests, one for each. Further requests get the status 599. */
  answer(...replies: FakeReply[]): void
}

const REQUESTED_HOST = 'x-requested-host'

/** The timeout of requests without a reply. */
const HANG_MS = 150

/** Starts a fake provider. */
export async function openFakeProvider(): Promise<FakeProvider> {
  const now = new Date()
  const authority = await loadOrCreateAuthority(inject('authorityDir'), now)
  const requests: FakeRequest[] = []
  let replies: FakeReply[] = []
  const server = createSecureServer(
    { ...(await issueCertificate(authority, ['127.0.0.1', 'localhost'], now)), allowHTTP1: true },
    async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      requests.push(requestOf(request, Buffer.concat(chunks)))
      reply(request, response, replies.shift())
    },
  )
  const sockets = new Set<Socket>()
  server.on('secureConnection', (socket: Socket) => sockets.add(socket.on('close', () => sockets.delete(socket))))
  // Some tests break connections.
  server.on('sessionError', () => undefined)
  const port = await listening(server)
  const client = createSafeFetch({ policy: egressPolicy(['127.0.0.0/8']), ca: [authority.cert], userAgent: 'Carillon/1.0' })
  const closedPort = await unusedPort()
  const fetch: SafeFetch = {
    ...client,
    request(request) {
      const { host, pathname, search } = new URL(request.url)
      const isRefused = replies[0] === 'refused'
      if (isRefused) replies.shift()
      return client.request({
        ...request,
        url: `https://127.0.0.1:${isRefused ? closedPort : port}${pathname}${search}`,
        // Not as `host`: undici would ask for a certificate of that name.
        headers: { ...request.headers, [REQUESTED_HOST]: host },
        ...(replies[0] === 'hang' && { timeoutMs: HANG_MS }),
      })
    },
  }
  return {
    fetch,
    requests,
    host: '127.0.0.1',
    port,
    answer: (...given) => {
      replies = given
    },
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]()
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function requestOf(request: Http2ServerRequest, bytes: Buffer): FakeRequest {
  const { [REQUESTED_HOST]: host, ...given } = request.headers
  const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]))
  const body = bytes.toString('utf8')
  return {
    method: request.method,
    url: `https://${host}${request.url}`,
    headers,
    bytes,
    body,
    json: parsed(body),
    form: Object.fromEntries(new URLSearchParams(body)),
  }
}

function reply(request: Http2ServerRequest, response: Http2ServerResponse, recorded: FakeReply | undefined): void {
  if (recorded === 'hang') return
  if (recorded === 'cut') {
    request.socket.destroy()
    return
  }
  const { status, headers = {}, body = '' } = typeof recorded === 'object' ? recorded : { status: 599, body: 'The test set no reply.' }
  const isText = typeof body === 'string'
  response.writeHead(status, { ...(!isText && { 'content-type': 'application/json' }), ...headers })
  response.end(isText ? body : JSON.stringify(body))
}

/** Listens on a free port of loopback. Returns the port. */
async function listening(server: { listen(port: number, host: string, done: () => void): unknown; address(): unknown }): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** A port that refuses connections. */
export async function unusedPort(): Promise<number> {
  const server = createServer()
  const port = await listening(server)
  await new Promise((resolve) => server.close(resolve))
  return port
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
