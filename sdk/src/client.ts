/** A typed client of the API: every path, parameter, body and reply is checked against `api.ts`, which is printed from the routes. */
import type { paths } from './api.ts'
import { CarillonError } from './error.ts'
import { type Clock, hasOrigin, isBrowser, randomKey, sleep, systemClock, variable } from './platform.ts'
import { jsonOf, readReply } from './reply.ts'
import { needsKey, waitMsOf } from './retry.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** The paths that have a method. */
export type PathOf<M extends Method> = { [P in keyof paths]: paths[P] extends Record<M, object> ? P : never }[keyof paths]

type Operation<P extends keyof paths, M extends Method> = paths[P] extends Record<M, infer O> ? O : never
type Part<O, K extends 'query' | 'path'> = O extends { parameters: Partial<Record<K, infer T>> } ? NonNullable<T> : never
type BodyOf<O> = O extends { requestBody?: infer B } ? (NonNullable<B> extends { content: infer C } ? C[keyof C] : never) : never
type Present<K extends string, T> = [T] extends [never] ? unknown : Record<never, never> extends T ? { [key in K]?: T } : { [key in K]: T }

/** What a call may say besides its parameters. */
export type CallOptions = {
  signal?: AbortSignal
  /** Makes a write safe to repeat: the server answers the second one with the reply of the first. */
  idempotencyKey?: string
  /** Instead of that of the client. */
  timeoutMs?: number
  headers?: Record<string, string>
}

/** The options of a call: those that the operation requires are required. */
export type Options<P extends keyof paths, M extends Method> = Present<'path', Part<Operation<P, M>, 'path'>> &
  Present<'query', Part<Operation<P, M>, 'query'>> &
  Present<'body', BodyOf<Operation<P, M>>> &
  CallOptions

type Success<R> =
  R extends Record<string | number, unknown>
    ? { [S in keyof R]: `${S & (string | number)}` extends `2${string}` ? R[S] : never }[keyof R]
    : never

/** The body of a successful reply; null where there is none. */
export type Reply<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { responses: infer R }
    ? Success<R> extends { content?: infer C }
      ? [NonNullable<C>] extends [never]
        ? null
        : NonNullable<C>[keyof NonNullable<C>]
      : never
    : never

type Arguments<P extends keyof paths, M extends Method> =
  Record<never, never> extends Options<P, M> ? [options?: Options<P, M>] : [options: Options<P, M>]

/** A whole reply. */
export type Answer<T> = {
  body: T
  status: number
  headers: Headers
  /** Names the request in the logs of the server. */
  requestId: string | null
}

/** The body of a reply. */
export type Asked<T> = Promise<T> & {
  /** Resolves with the status and the headers of the reply too. */
  withResponse(): Promise<Answer<T>>
}

/** One method of the client. */
export type Call<M extends Method> = <P extends PathOf<M>>(path: P, ...rest: Arguments<P, M>) => Asked<Reply<P, M>>

export type Client = { [M in Method]: Call<M> } & {
  /** A request as it would be sent, for samples and for downloads. */
  url(path: string, options?: AnyOptions): string
}

type AnyOptions = CallOptions & { path?: object; query?: object; body?: unknown }

export type ClientOptions = {
  /** Where the server is: `https://carillon.example.com`. Default: the variable `CARILLON_URL`, or else the origin of the page. */
  baseUrl?: string
  /**
   * A secret, publishable or organisation key. Default: the variable `CARILLON_API_KEY`. The console has none; its cookie names the member.
   */
  apiKey?: string
  /** Sent with each request. */
  headers?: Record<string, string>
  /**
   * The time until the whole reply must have come, for each try. Default: 30 seconds, and no limit for the upload of a file. `Infinity` is no
   * limit.
   */
  timeoutMs?: number
  /** How often a request that failed is sent again. Default: 2. */
  maxRetries?: number
  fetch?: typeof fetch
  /** For tests. */
  clock?: Clock
  /** For tests: at least 0, below 1. */
  random?: () => number
}

const TIMEOUT_MS = 30_000
const RETRIES_MAX = 2

type Optional = 'apiKey' | 'fetch' | 'timeoutMs'
type Settings = Required<Omit<ClientOptions, Optional>> & Pick<ClientOptions, Optional>

/**
 * Creates a client. Each call resolves with the body of the reply, or rejects with a `CarillonError`, or with the reason of its signal if that
 * ends it. Throws in a browser, or a worker of one, if the key is not a publishable one, and elsewhere without a `baseUrl`.
 */
export function createClient(options: ClientOptions = {}): Client {
  const settings = settingsOf(options)
  const url = (path: string, { path: params = {}, query = {} }: AnyOptions = {}) =>
    `${settings.baseUrl}${fill(path, params)}${search(query)}`
  // A path that cannot be sent rejects, as all that fails.
  const sendTo = async (method: Method, path: string, given: AnyOptions) => send(settings, { method, path, url: url(path, given), given })
  const call =
    (method: Method) =>
    (path: string, given: AnyOptions = {}) =>
      asked(sendTo(method, path, given))
  return { get: call('get'), post: call('post'), put: call('put'), patch: call('patch'), delete: call('delete'), url } as Client
}

function settingsOf({
  baseUrl = variable('CARILLON_URL') ?? '',
  apiKey = variable('CARILLON_API_KEY'),
  headers = {},
  maxRetries = RETRIES_MAX,
  clock = systemClock,
  random = Math.random,
  ...rest
}: ClientOptions): Settings {
  if (apiKey !== undefined && /^[so]k_/.test(apiKey) && isBrowser()) {
    throw new Error('Everyone who opens the page can read this key. Use a publishable key, which begins with `pk_`, in browsers.')
  }
  // A `fetch` of the caller may complete paths.
  if (baseUrl === '' && rest.fetch === undefined && !hasOrigin()) {
    throw new Error('The client does not know where the server is. Set `baseUrl`, or the variable `CARILLON_URL`.')
  }
  const key = apiKey !== undefined && { apiKey }
  return { ...rest, ...key, baseUrl: baseUrl.replace(/\/$/, ''), headers, maxRetries, clock, random }
}

/** The promise of the body alone, which also gives that of the whole answer. */
function asked<T>(answer: Promise<Answer<T>>): Asked<T> {
  const body = answer.then(({ body }) => body)
  const withResponse = () => {
    // The caller awaits the whole answer instead, and handles its failure.
    body.catch(() => undefined)
    return answer
  }
  return Object.assign(body, { withResponse })
}

/** The utilities take forms. */
const FORMS = '/api/ext/'

const formOf = (body: unknown) =>
  new URLSearchParams(Object.entries(body ?? {}).filter((pair): pair is [string, string] => pair[1] !== undefined))

/** What a URL cannot have between two slashes, encoded or not: it would be the URL of something else. */
const UNSENDABLE = ['', '.', '..']

const fill = (path: string, params: object) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const text = String((params as Record<string, unknown>)[name])
    if (!UNSENDABLE.includes(text)) return encodeURIComponent(text)
    const message = `No URL can have \`${text}\` as \`${name}\`, so nothing was sent.`
    throw new CarillonError({ status: 0, body: null, requestId: null, code: 'parameter_invalid_format', message })
  })

function search(query: object): string {
  const pairs = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === null ? [] : Array.isArray(value) ? value.map((item) => [name, String(item)]) : [[name, String(value)]],
  )
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
}

const etags = new WeakMap<object, string>()

/**
 * The version of the object in a reply, for the header `If-Match` of a change. Only the reply object itself has it; a copy of the object
 * does not.
 */
export const etagOf = (reply: object): string | undefined => etags.get(reply)

type Request = { method: Method; path: string; url: string; given: AnyOptions }

/** Sends a request, and again while it fails for reasons that pass. */
async function send(settings: Settings, request: Request): Promise<Answer<unknown>> {
  const { maxRetries, clock, random } = settings
  const { method, path, given } = request
  const init = initOf(settings, request)
  const hasKey = hasKeyIn(init.headers)
  for (let retries = 0; ; retries++) {
    try {
      return await attempt(settings, request, init)
    } catch (error) {
      if (retries >= maxRetries || !(error instanceof CarillonError)) throw error
      const waitMs = waitMsOf({ method, path, hasKey, retries }, error, clock.now(), random())
      if (waitMs === null) throw error
      await sleep(clock, waitMs, given.signal)
    }
  }
}

const IDEMPOTENCY_KEY = 'idempotency-key'

const hasKeyIn = (headers: object) => Object.keys(headers).some((name) => name.toLowerCase() === IDEMPOTENCY_KEY)

type Init = { method: string; headers: Record<string, string>; body?: Blob | URLSearchParams | string }

/** What every try of a request sends, so that the server knows them by their key as one. */
function initOf({ headers: ofAll, apiKey, maxRetries }: Settings, { method, path, given }: Request): Init {
  const headers: Record<string, string> = { accept: 'application/json', ...ofAll, ...given.headers }
  if (apiKey !== undefined) headers.authorization = `Bearer ${apiKey}`
  if (given.idempotencyKey !== undefined) headers[IDEMPOTENCY_KEY] = given.idempotencyKey
  else if (maxRetries > 0 && needsKey(method, path) && !hasKeyIn(headers)) headers[IDEMPOTENCY_KEY] = randomKey()
  const body = path.startsWith(FORMS) ? formOf(given.body) : given.body
  // A file is sent as it is, under the type that the caller gives, and a form under its own.
  const isReady = isFile(body) || body instanceof URLSearchParams
  if (body !== undefined && !isReady) headers['content-type'] = 'application/json'
  return { method: method.toUpperCase(), headers, ...(body !== undefined && { body: isReady ? body : JSON.stringify(body) }) }
}

const isFile = (body: unknown): body is Blob | string => body instanceof Blob || typeof body === 'string'

async function attempt(settings: Settings, { url, given }: Request, init: Init): Promise<Answer<unknown>> {
  const { signal } = given
  // How long an upload takes depends on the file and the connection.
  const timeoutMs = given.timeoutMs ?? settings.timeoutMs ?? (isFile(given.body) ? Number.POSITIVE_INFINITY : TIMEOUT_MS)
  const ended = new AbortController()
  const end = () => ended.abort(signal?.reason)
  if (signal?.aborted) end()
  signal?.addEventListener('abort', end, { once: true })
  const cancel = settings.clock.after(timeoutMs, () => ended.abort(tooLate()))
  try {
    const { reply, text } = await readReply(
      (settings.fetch ?? fetch)(url, { ...init, redirect: 'manual', signal: ended.signal }),
      ended.signal,
    )
    return { body: bodyOf(reply, text), status: reply.status, headers: reply.headers, requestId: reply.headers.get('x-request-id') }
  } finally {
    cancel()
    signal?.removeEventListener('abort', end)
  }
}

const tooLate = () =>
  new CarillonError({ status: 0, body: null, requestId: null, code: 'timeout', message: 'The server did not answer in time.' })

function bodyOf(reply: Response, text: string): unknown {
  if (text === '') return null
  if (!(reply.headers.get('content-type') ?? '').includes('json')) return text
  const body = jsonOf(reply, text)
  const etag = reply.headers.get('etag')
  if (etag !== null && typeof body === 'object' && body !== null) etags.set(body, etag)
  return body
}
