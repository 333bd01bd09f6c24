/**
 * The only HTTP client for hosts that a caller chose (D-SSRF, D-WH-4). It connects only to addresses that the egress policy allows,
 * does not follow redirects, ignores proxy settings of the environment, and limits time and size.
 */
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { Agent, type Dispatcher } from 'undici'
import { type EgressPolicy, type HostLookup, isAllowedAddress, isAllowedPort } from '../../lib/egress.ts'
import { resolveHost } from './dns/system.ts'
import { trustContext } from './trust.ts'

/** `timeoutMs` covers everything from the call to the last byte of the body. */
export type SafeRequest = {
  method: Dispatcher.HttpMethod
  url: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** Uses HTTP/2 if the server supports it, with many requests on one connection. */
  http2?: boolean | undefined
  timeoutMs: number
  connectTimeoutMs: number
  responseBytesMax: number
  signal?: AbortSignal | undefined
}

type FailureReason = 'timeout' | 'refused' | 'dns' | 'tls' | 'reset' | 'blocked' | 'other'

/** A response. `body` is cut at `responseBytesMax` bytes; header names are lower-case. */
export type Answered = {
  is: 'answered'
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
  elapsedMs: number
}

/**
 * There was no response. `message` is a sentence for the owner of the URL. `isUnsent`: no connection was established, so that the request
 * cannot have arrived.
 */
export type Failed = { is: 'failed'; reason: FailureReason; message: string; elapsedMs: number; isUnsent?: true }

export type SafeResponse = Answered | Failed

export type SafeFetch = AsyncDisposable & {
  /** The egress policy, for checking a URL in advance. */
  policy: EgressPolicy
  /** Sends a request. Network errors are results; it throws only if `url` is not a URL. */
  request(request: SafeRequest): Promise<SafeResponse>
}

type Options = {
  policy: EgressPolicy
  /** Additional trusted root certificates in PEM. */
  ca?: string[]
  userAgent: string
  /** Allows every port, for hosts that an operator chose. */
  anyPort?: boolean
  lookup?: HostLookup
}

// For connections whose request has already timed out.
const CONNECT_TIMEOUT_MS_MAX = 10_000

/** Creates pools of HTTP/1.1 and HTTP/2 connections. Disposing of it ends running requests. */
export function createSafeFetch({ policy, ca = [], userAgent, anyPort = false, lookup = resolveHost }: Options): SafeFetch {
  const secureContext = trustContext(ca)
  const open = (http2: boolean) =>
    new Agent({
      allowH2: http2,
      // `timeoutMs` of each request covers both.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {
        preferH2: http2,
        timeout: CONNECT_TIMEOUT_MS_MAX,
        secureContext,
        rejectUnauthorized: true,
        autoSelectFamily: true,
        lookup: guardedLookup(policy, lookup),
      },
    })
  const agents = { http1: open(false), http2: open(true) }
  return {
    policy,
    async request(request) {
      const url = new URL(request.url)
      const unsent = { elapsedMs: 0, isUnsent: true } as const
      if (!anyPort && !isAllowedPort(url)) return { ...failure(blockedError(`the port ${url.port}`)), message: PORT_MESSAGE, ...unsent }
      // Sockets do not call `lookup` for a literal address.
      const host = url.hostname.replace(/^\[|\]$/g, '')
      if (ipaddr.isValid(host) && !isAllowedAddress(policy, host)) return { ...failure(blockedError(host)), ...unsent }
      return exchange(request.http2 ? agents.http2 : agents.http1, url, userAgent, request)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([agents.http1.destroy(), agents.http2.destroy()])
    },
  }
}

export const blockedError = (host: string) =>
  Object.assign(new Error(`The egress policy does not allow ${host}`), { code: 'EGRESS_BLOCKED' })
const unknownHost = (host: string) => Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' })

/** A lookup that returns only allowed addresses. For sockets with `autoSelectFamily`, which request all addresses. */
export function guardedLookup(policy: EgressPolicy, lookup: HostLookup): LookupFunction {
  return (host, _, callback) => {
    const answer = (found: Awaited<ReturnType<HostLookup>>) => {
      const allowed = found.filter(({ address }) => isAllowedAddress(policy, address))
      if (allowed.length > 0) callback(null, allowed)
      else callback(found.length > 0 ? blockedError(host) : unknownHost(host), [])
    }
    lookup(host).then(answer, (error) => callback(error, []))
  }
}

type Result = Omit<Answered, 'elapsedMs'> | Omit<Failed, 'elapsedMs'>

/** Sends one request on a pooled connection. Returns as soon as a limit is reached, even while connecting. */
function exchange(agent: Agent, url: URL, userAgent: string, request: SafeRequest): Promise<SafeResponse> {
  const startedAt = performance.now()
  const { promise, resolve } = Promise.withResolvers<SafeResponse>()
  let over = false
  const chunks: Buffer[] = []
  let size = 0
  let head = { status: 0, headers: {} as Answered['headers'] }
  let stop: (() => void) | undefined

  const finish = (result: Result) => {
    if (over) return
    over = true
    clearTimeout(total)
    clearTimeout(connecting)
    request.signal?.removeEventListener('abort', cancel)
    const isUnsent = result.is === 'failed' && !stop
    resolve({ ...result, elapsedMs: performance.now() - startedAt, ...(isUnsent && { isUnsent }) })
  }
  const giveUp = (reason: FailureReason, message: string) => {
    finish({ is: 'failed', reason, message })
    stop?.()
  }
  const answer = () => finish({ is: 'answered', ...head, body: decode(chunks, request.responseBytesMax) })
  const cancel = () => giveUp('other', 'The request was cancelled.')
  const total = setTimeout(() => giveUp('timeout', `The server did not respond within ${request.timeoutMs} ms.`), request.timeoutMs)
  const connecting = setTimeout(() => {
    if (!stop) giveUp('timeout', `The connection was not established within ${request.connectTimeoutMs} ms.`)
  }, request.connectTimeoutMs)
  if (request.signal?.aborted) cancel()
  else request.signal?.addEventListener('abort', cancel)

  const { origin, pathname, search } = url
  const headers = { ...request.headers, 'user-agent': userAgent }
  const body = request.body ?? null
  agent.dispatch(
    { origin, path: pathname + search, method: request.method, headers, body },
    {
      // Called once there is a connection. If the request has timed out by then, it is not sent.
      onRequestStart(controller) {
        stop = () => controller.abort(new Error('The request is over.'))
        if (over) stop()
      },
      onResponseStart(_, status, headers) {
        if (status >= 200) head = { status, headers }
      },
      onResponseData(_, chunk) {
        chunks.push(chunk)
        size += chunk.length
        if (size <= request.responseBytesMax) return
        answer()
        stop?.()
      },
      onResponseEnd: answer,
      onResponseError: (_, error) => finish(failure(error)),
    },
  )
  return promise
}

/** Decodes UTF-8, without a character that was cut by the limit. */
function decode(chunks: Buffer[], bytesMax: number): string {
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, bytesMax), { stream: true })
}

const REASONS: Record<string, FailureReason> = {
  EGRESS_BLOCKED: 'blocked',
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  ENOTFOUND: 'dns',
  ENODATA: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
}
// OpenSSL has about forty of these codes.
const TLS_CODE = /TLS|SSL|CERT|SIGNATURE|INVALID_CA|PURPOSE|HOSTNAME_MISMATCH|KEY_TOO_SMALL|EPROTO/

const PORT_MESSAGE = 'The port must be 443 for https, 80 for http, or 1024 or above.'

const MESSAGES: Record<FailureReason, string> = {
  timeout: 'The connection was not established in time',
  refused: 'The server refused the connection',
  dns: 'The host name could not be resolved',
  tls: 'No secure connection could be established; check the certificate of the server',
  reset: 'The server closed the connection before it responded',
  blocked: 'The host has no address that this server may connect to',
  other: 'The request failed',
}

function failure(error: Error): Omit<Failed, 'elapsedMs'> {
  const { code = '' } = error as NodeJS.ErrnoException
  const reason = REASONS[code] ?? (TLS_CODE.test(code) ? 'tls' : 'other')
  const detail = code !== '' && (reason === 'tls' || reason === 'other') ? ` (${code})` : ''
  return { is: 'failed', reason, message: `${MESSAGES[reason]}${detail}.` }
}
