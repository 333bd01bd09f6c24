/**
 * `carillon listen`: a webhook endpoint on this machine, until the command ends. The server trusts its certificate, which is
 * issued by the server’s development authority.
 */

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { issueCertificate, loadOrCreateAuthority } from '../infra/outgoing/dev-authority.ts'
import { createSafeFetch } from '../infra/outgoing/safe-fetch.ts'
import type { Clock } from '../lib/clock.ts'
import { egressPolicy } from '../lib/egress.ts'
import { trimEndMatching } from '../lib/text.ts'
import { CLI_USER_AGENT, VERSION } from '../lib/versions.ts'
import { EVENT_TYPES } from '../modules/webhook-events/index.ts'
import { verifySignature } from '../modules/webhooks/index.ts'
import { callApi, firstKey, parsed } from './call-api.ts'
import { CommandError, readArguments, UsageError } from './command.ts'
import { forwarder } from './forward.ts'
import { inOrder, type ReceivedEvent } from './in-order.ts'
import { OPTIONS } from './options.ts'

export type ListenOptions = {
  /** 0 chooses a free one. */
  port: number
  events: readonly string[]
  /** The base URL of the API. */
  url: string
  /** An `sk_` key with the role `admin`; by default the one of the first start. */
  key?: string
  /** Where genuine requests are sent on to: a receiver on this machine, which may use HTTP. */
  forwardTo?: string
  /** The signing secret of the endpoint. By default the server chooses one. */
  secret?: string
}

export type ListenIo = {
  /** The server’s directory with the development authority and `credentials.json`. */
  dataDir: string
  print(line: string): void
  clock: Pick<Clock, 'now' | 'sleep'>
}

const HOST = '127.0.0.1'
const BODY_BYTES_MAX = 1_048_576

/** Reads the arguments of the command. Throws `UsageError` if one is invalid. */
export function listenOptions(args: string[]): ListenOptions {
  const { port, events, url, key, 'forward-to': forwardTo, secret } = readArguments(args, OPTIONS.listen).values
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new UsageError('--port must be a port from 0 to 65535.')
  if (!isWebAddress(url)) throw new UsageError('--url must be a URL such as http://127.0.0.1:3000.')
  if (forwardTo !== undefined && !isWebAddress(forwardTo))
    throw new UsageError('--forward-to must be a URL such as http://127.0.0.1:4000/webhooks.')
  const wanted = events === 'all' ? EVENT_TYPES : events.split(',').map((type) => type.trim())
  const unknown = wanted.filter((type) => !(EVENT_TYPES as readonly string[]).includes(type))
  if (unknown.length > 0)
    throw new UsageError(`Unknown event types in --events: ${unknown.join(', ')}. Use all, or some of ${EVENT_TYPES.join(', ')}.`)
  return {
    port: Number(port),
    events: wanted,
    url: trimEndMatching(url, /^\/$/),
    ...(key !== undefined && { key }),
    ...(forwardTo !== undefined && { forwardTo }),
    ...(secret !== undefined && { secret }),
  }
}

const isWebAddress = (url: string) => URL.canParse(url) && /^https?:\/\//i.test(url)

/** Starts the endpoint and registers it with the server, until it is disposed of. `url` is that of the endpoint. */
export async function listen(options: ListenOptions, { dataDir, print, clock }: ListenIo): Promise<AsyncDisposable & { url: string }> {
  const { now } = clock
  const key = options.key ?? (await firstKey(dataDir))
  await using opening = new AsyncDisposableStack()
  const authority = await loadOrCreateAuthority(dataDir, now())
  // Any address is allowed, because the user of the command line chose it.
  const fetch = opening.use(
    createSafeFetch({
      policy: egressPolicy(['0.0.0.0/0', '::/0']),
      ca: [authority.cert],
      userAgent: `${CLI_USER_AGENT}${VERSION}`,
      anyPort: true,
    }),
  )
  let secret = ''
  const printer = opening.use(inOrder(({ body }) => printEvent(body, print), clock))
  const forward = options.forwardTo === undefined ? undefined : forwarder(fetch, options.forwardTo, print)
  const server = createServer(await issueCertificate(authority, [HOST], now()), (request, response) => {
    receive(request, response, async (headers, body) => {
      const genuine = secret !== '' && verifySignature(String(headers['service-signature'] ?? ''), body, secret, now())
      if (genuine) printer.add(receivedEvent(body))
      else print('A request was refused because its signature is not valid.')
      if (!genuine) return 400
      return forward ? await forward(headers, body) : 204
    })
  })
  const url = await open(server, options.port)
  opening.defer(() => close(server))
  const api = callApi(fetch, options.url, key)
  const chosen = options.secret === undefined ? {} : { signing_secret: options.secret }
  const endpoint = await api('POST', '/api/client/webhooks', { name: 'carillon listen', url, event_types: options.events, ...chosen })
  opening.defer(async () => {
    await api('DELETE', `/api/client/webhooks/${endpoint.id}`)
  })
  secret = String(endpoint.signing_secret)
  print(`Listening at ${url} for ${options.events.length} event ${options.events.length === 1 ? 'type' : 'types'}. Stop with Ctrl-C.`)
  const closing = opening.move()
  return { url, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

async function open(server: Server, port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, HOST, resolve)
  await promise.catch((error: Error) => {
    throw new CommandError(`Cannot listen on port ${port}: ${error.message}`)
  })
  return `https://${HOST}:${(server.address() as AddressInfo).port}/`
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  server.closeAllConnections()
  await promise
}

type Accept = (headers: IncomingHttpHeaders, body: string) => Promise<number>

/** Reads a request. Replies with the status that `accept` decides on. */
function receive(request: IncomingMessage, response: ServerResponse, accept: Accept): void {
  const chunks: Buffer[] = []
  let size = 0
  request.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= BODY_BYTES_MAX) chunks.push(chunk)
    else request.destroy()
  })
  request.on('end', () => {
    accept(request.headers, Buffer.concat(chunks).toString('utf8')).then(
      (status) => response.writeHead(status).end(),
      (error) => response.destroy(error),
    )
  })
}

const receivedEvent = (body: string): ReceivedEvent => {
  const { id, timestamp } = parsed(body)
  return { id: String(id), timestamp: String(timestamp), body }
}

/** Prints a summary line, and then the event as it was received. */
function printEvent(body: string, print: (line: string) => void): void {
  const event = parsed(body)
  const { to, reason, response, diagnostic } = (event.data ?? {}) as Record<string, unknown>
  const details = [to, response ?? diagnostic ?? reason].flat().filter((detail) => typeof detail === 'string')
  const quoted = details.map((detail) => escaped(JSON.stringify(detail)))
  print([event.timestamp, event.type, ...(event.test ? ['(test)'] : []), ...quoted].join('  '))
  print(escaped(body))
}

/** Escapes control characters above U+001F, which JSON does not. Replies of mail servers can contain them, and terminals execute them. */
const escaped = (json: string) => json.replace(/[\u007f-\u009f]/g, (control) => `\\u00${control.charCodeAt(0).toString(16)}`)
