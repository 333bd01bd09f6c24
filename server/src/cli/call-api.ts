/** Requests of commands to the API of a server. */
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createSafeFetch, type SafeFetch, type SafeResponse } from '../infra/outgoing/safe-fetch.ts'
import { systemClock } from '../infra/runtime/clock.ts'
import type { Config } from '../infra/runtime/config.ts'
import { egressPolicy } from '../lib/egress.ts'
import { trimEndMatching } from '../lib/text.ts'
import { CLI_USER_AGENT, VERSION } from '../lib/versions.ts'
import { CommandError } from './command.ts'

const CONNECT_TIMEOUT_MS = 10_000
const TIMEOUT_MS = 60_000
const MIB = 1024 * 1024
const REPLY_MIB_MAX = 64
/** More is read than is accepted, because a reply that was cut within a character ends before it. */
const READ_BYTES_MAX = REPLY_MIB_MAX * MIB + 16

type Request = [method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object]

export type Call = (...request: Request) => Promise<Record<string, unknown>>

/** A whole reply, as it was sent. `type` is its media type. */
type Reply = { status: number; type: string; text: string }
type Send = (...request: Request) => Promise<Reply>

/** Calls the API. Throws `CommandError` with the error message of the server, or if the reply is not JSON. */
export function callApi(fetch: SafeFetch, url: string, key: string): Call {
  const send = sender(fetch, url, key)
  return async (...request) => {
    const reply = await send(...request)
    return reply.text === '' ? {} : (jsonOf(reply, url) as Record<string, unknown>)
  }
}

/** A request that a rate limit refuses is sent so often. The server says how long to wait before. */
const ATTEMPTS_MAX = 10

/** Sends requests. Throws `CommandError` with the error message of the server, or if the reply cannot be read whole. */
function sender(fetch: SafeFetch, url: string, key: string): Send {
  const attempt = ([method, path, body]: Request) =>
    fetch.request({
      method,
      url: `${url}${path}`,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      timeoutMs: TIMEOUT_MS,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      responseBytesMax: READ_BYTES_MAX,
    })
  return async (...request) => {
    let reply = await attempt(request)
    for (let attempts = 1; attempts < ATTEMPTS_MAX; attempts++) {
      const waitMs = limitedForMs(reply)
      if (waitMs === undefined) break
      await systemClock.sleep(waitMs)
      reply = await attempt(request)
    }
    if (reply.is === 'failed') throw new CommandError(`Cannot connect to ${url}. ${reply.message}`)
    if (reply.status >= 300) throw new CommandError(`${url} replied with ${reply.status}: ${parsed(reply.body).message ?? reply.body}`)
    if (Buffer.byteLength(reply.body) > REPLY_MIB_MAX * MIB)
      throw new CommandError(`${url} replied with more than ${REPLY_MIB_MAX} MiB. Request less at once, such as a smaller page.`)
    return { status: reply.status, type: String(reply.headers['content-type'] ?? ''), text: reply.body }
  }
}

/** The value of a reply in JSON. Throws `CommandError` if it is not JSON. */
export function jsonOf({ status, text }: Reply, url: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new CommandError(`${url} replied with ${status}, but not with JSON. Check that it is the address of a Carillon server.`)
  }
}

/** Calls the API of the server at `--url` with `--key`: by default that of the configuration, with the key of its first start. */
export async function openApi(
  config: Pick<Config, 'DATA_DIR' | 'PORT'>,
  { url, key }: { url: string | undefined; key: string | undefined },
): Promise<AsyncDisposable & { url: string; send: Send; call: Call }> {
  const value = key ?? (await firstKey(resolve(config.DATA_DIR)))
  // Any address is allowed, because the user of the command line chose it.
  const fetch = createSafeFetch({ policy: egressPolicy(['0.0.0.0/0', '::/0']), userAgent: `${CLI_USER_AGENT}${VERSION}`, anyPort: true })
  const base = trimEndMatching(url ?? `http://127.0.0.1:${config.PORT}`, /^\/$/)
  return {
    url: base,
    send: sender(fetch, base, value),
    call: callApi(fetch, base, value),
    [Symbol.asyncDispose]: () => fetch[Symbol.asyncDispose](),
  }
}

/** How long to wait after a rate limit refused a request; undefined for any other reply. */
function limitedForMs(reply: SafeResponse): number | undefined {
  if (reply.is === 'failed' || reply.status !== 429) return undefined
  const seconds = String(reply.headers['retry-after'])
  return /^\d{1,2}$/.test(seconds) ? Number(seconds) * 1000 : undefined
}

/** An object in JSON; an empty one if the text is not JSON. */
export function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** The secret key of the first start. Throws `CommandError` if there is none. */
export async function firstKey(dataDir: string): Promise<string> {
  const path = join(dataDir, 'credentials.json')
  try {
    return JSON.parse(await readFile(path, 'utf8')).secret_key
  } catch {
    throw new CommandError(`${path} contains no key. Start the server once, or pass --key.`)
  }
}
