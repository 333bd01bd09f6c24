/**
 * `carillon listen`: a webhook endpoint on this machine for as long as the command runs. Its certificate is issued by the
 * development authority of the server, which therefore trusts it.
 */

import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { issueCertificate, loadOrCreateAuthority } from '../infra/outgoing/dev-authority.ts'
import { createSafeFetch, type SafeFetch } from '../infra/outgoing/safe-fetch.ts'
import { egressPolicy } from '../lib/egress.ts'
import { EVENT_TYPES } from '../modules/webhook-events/index.ts'
import { verifySignature } from '../modules/webhooks/index.ts'
import { CommandError } from './command.ts'

export type ListenOptions = {
  /** 0 picks a free one. */
  port: number
  events: readonly string[]
  /** Where the API is. */
  url: string
  /** An admin `sk_` key; that of the first start when it is absent. */
  key?: string
}

export type ListenSurroundings = {
  /** Where the server keeps its development authority and `credentials.json`. */
  dataDir: string
  print(line: string): void
  now(): Date
}

const HOST = '127.0.0.1'
const TIMEOUT_MS = 10_000
const RESPONSE_BYTES_MAX = 1_048_576
const BODY_BYTES_MAX = 1_048_576

const options = {
  port: { type: 'string', default: '0' },
  events: { type: 'string', default: 'all' },
  url: { type: 'string', default: 'http://127.0.0.1:3000' },
  key: { type: 'string' },
} as const

/** Reads the arguments of the command. Throws `CommandError` when one of them cannot be used. */
export function listenOptions(args: string[]): ListenOptions {
  const { port, events, url, key } = parseArgs({ args, options }).values
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new CommandError('--port must be a port from 0 to 65535.')
  if (!URL.canParse(url) || !/^https?:\/\//i.test(url)) throw new CommandError('--url must be a URL such as http://127.0.0.1:3000.')
  const wanted = events === 'all' ? EVENT_TYPES : events.split(',').map((type) => type.trim())
  const unknown = wanted.filter((type) => !(EVENT_TYPES as readonly string[]).includes(type))
  if (unknown.length > 0)
    throw new CommandError(`--events does not know ${unknown.join(', ')}. Use all, or some of ${EVENT_TYPES.join(', ')}.`)
  return { port: Number(port), events: wanted, url: url.replace(/\/+$/, ''), ...(key !== undefined && { key }) }
}

/** Listens, and has the server send to it, until it is disposed of. `url` is where events arrive. */
export async function listen(
  options: ListenOptions,
  { dataDir, print, now }: ListenSurroundings,
): Promise<AsyncDisposable & { url: string }> {
  const key = options.key ?? (await firstKey(dataDir))
  await using opening = new AsyncDisposableStack()
  const authority = await loadOrCreateAuthority(dataDir, now())
  // The address of the API was given by the person at the keyboard, who may well mean a private one.
  const fetch = opening.use(
    createSafeFetch({ policy: egressPolicy(['0.0.0.0/0', '::/0']), ca: [authority.cert], userAgent: 'Carillon-Listen/1.0' }),
  )
  let secret = ''
  const server = createServer(await issueCertificate(authority, [HOST], now()), (request, response) => {
    receive(request, response, (header, body) => {
      const genuine = secret !== '' && verifySignature(header, body, secret, now())
      if (genuine) announce(body, print)
      else print('A request was refused: its signature does not verify.')
      return genuine
    })
  })
  const url = await open(server, options.port)
  opening.defer(() => close(server))
  const api = callApi(fetch, options.url, key)
  const endpoint = await api('POST', '/api/client/webhooks', { name: 'carillon listen', url, event_types: options.events })
  opening.defer(async () => {
    await api('DELETE', `/api/client/webhooks/${endpoint.id}`)
  })
  secret = String(endpoint.signing_secret)
  print(`Listening at ${url} for ${options.events.length} ${options.events.length === 1 ? 'type' : 'types'} of event. Stop with Ctrl-C.`)
  const closing = opening.move()
  return { url, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

async function firstKey(dataDir: string): Promise<string> {
  const path = join(dataDir, 'credentials.json')
  try {
    return JSON.parse(await readFile(path, 'utf8')).secret_key
  } catch {
    throw new CommandError(`There is no key in ${path}. Start the server once, or pass --key.`)
  }
}

async function open(server: Server, port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, HOST, resolve)
  await promise.catch((error: Error) => {
    throw new CommandError(`Port ${port} cannot be listened on: ${error.message}`)
  })
  return `https://${HOST}:${(server.address() as AddressInfo).port}/`
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  server.closeAllConnections()
  await promise
}

type Call = (method: 'POST' | 'DELETE', path: string, body?: object) => Promise<Record<string, unknown>>

/** Calls the API; a refusal is told in the words of the server. */
function callApi(fetch: SafeFetch, url: string, key: string): Call {
  return async (method, path, body) => {
    const reply = await fetch.request({
      method,
      url: `${url}${path}`,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      timeoutMs: TIMEOUT_MS,
      connectTimeoutMs: TIMEOUT_MS,
      responseBytesMax: RESPONSE_BYTES_MAX,
    })
    if (reply.is === 'failed') throw new CommandError(`${url} cannot be reached. ${reply.message}`)
    const answer = parsed(reply.body)
    if (reply.status >= 300) throw new CommandError(`${url} answered ${reply.status}: ${answer.message ?? reply.body}`)
    return answer
  }
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** Reads one request and answers 204 when it was accepted, 400 when it was not. */
function receive(request: IncomingMessage, response: ServerResponse, accept: (header: string, body: string) => boolean): void {
  const chunks: Buffer[] = []
  let size = 0
  request.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= BODY_BYTES_MAX) chunks.push(chunk)
    else request.destroy()
  })
  request.on('end', () => {
    const accepted = accept(String(request.headers['service-signature'] ?? ''), Buffer.concat(chunks).toString('utf8'))
    response.writeHead(accepted ? 204 : 400).end()
  })
}

/** A line to read, and the event as it came. */
function announce(body: string, print: (line: string) => void): void {
  const event = parsed(body)
  const { to, reason, response, diagnostic } = (event.data ?? {}) as Record<string, unknown>
  const facts = [to, response ?? diagnostic ?? reason].flat().filter((fact) => typeof fact === 'string')
  print([event.timestamp, event.type, ...(event.test ? ['(test)'] : []), ...facts.map((fact) => escaped(JSON.stringify(fact)))].join('  '))
  print(escaped(body))
}

/** What mail servers say may hold control characters, which JSON leaves as they are above U+001F and a terminal obeys. */
const escaped = (json: string) => json.replace(/[\u007f-\u009f]/g, (control) => `\\u00${control.charCodeAt(0).toString(16)}`)
