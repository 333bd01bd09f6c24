/** `carillon listen --forward-to`: sends genuine webhook requests on to a receiver on this machine. */
import type { SafeFetch } from '../infra/outgoing/safe-fetch.ts'

const TIMEOUT_MS = 15_000
const RESPONSE_BYTES_MAX = 65_536
const BAD_GATEWAY = 502

/** The headers by which a receiver verifies a request. */
const HEADERS = ['content-type', 'service-signature', 'webhook-id', 'webhook-timestamp', 'webhook-signature']

/** Sends a request on with its body and its signatures. Resolves to the status of the reply, so that the server repeats what failed. */
export type Forward = (headers: Record<string, string | string[] | undefined>, body: string) => Promise<number>

export const forwarder =
  (fetch: SafeFetch, url: string, print: (line: string) => void): Forward =>
  async (headers, body) => {
    const reply = await fetch.request({
      method: 'POST',
      url,
      headers: Object.fromEntries(HEADERS.map((name) => [name, String(headers[name] ?? '')])),
      body,
      timeoutMs: TIMEOUT_MS,
      connectTimeoutMs: TIMEOUT_MS,
      responseBytesMax: RESPONSE_BYTES_MAX,
    })
    print(
      reply.is === 'answered' ? `Forwarded to ${url}, which replied with ${reply.status}.` : `Cannot forward to ${url}. ${reply.message}`,
    )
    return reply.is === 'answered' ? reply.status : BAD_GATEWAY
  }
