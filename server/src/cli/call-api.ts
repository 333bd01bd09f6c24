/** Requests of commands to the API of a server. */
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createSafeFetch, type SafeFetch } from '../infra/outgoing/safe-fetch.ts'
import type { Config } from '../infra/runtime/config.ts'
import { egressPolicy } from '../lib/egress.ts'
import { trimEndMatching } from '../lib/text.ts'
import { CLI_USER_AGENT, VERSION } from '../lib/versions.ts'
import { CommandError } from './command.ts'

const TIMEOUT_MS = 10_000
const RESPONSE_BYTES_MAX = 1_048_576

export type Call = (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object) => Promise<Record<string, unknown>>

/** Calls the API. Throws `CommandError` with the error message of the server. */
export function callApi(fetch: SafeFetch, url: string, key: string): Call {
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
    if (reply.is === 'failed') throw new CommandError(`Cannot connect to ${url}. ${reply.message}`)
    const answer = parsed(reply.body)
    if (reply.status >= 300) throw new CommandError(`${url} replied with ${reply.status}: ${answer.message ?? reply.body}`)
    return answer
  }
}

/** Calls the API of the server at `--url` with `--key`: by default that of the configuration, with the key of its first start. */
export async function openApi(
  config: Pick<Config, 'DATA_DIR' | 'PORT'>,
  { url, key }: { url: string | undefined; key: string | undefined },
): Promise<AsyncDisposable & { call: Call }> {
  const value = key ?? (await firstKey(resolve(config.DATA_DIR)))
  // Any address is allowed, because the user of the command line chose it.
  const fetch = createSafeFetch({ policy: egressPolicy(['0.0.0.0/0', '::/0']), userAgent: `${CLI_USER_AGENT}${VERSION}`, anyPort: true })
  const base = trimEndMatching(url ?? `http://127.0.0.1:${config.PORT}`, /^\/$/)
  return { call: callApi(fetch, base, value), [Symbol.asyncDispose]: () => fetch[Symbol.asyncDispose]() }
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
