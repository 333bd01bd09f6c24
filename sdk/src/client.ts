/** A typed client of the API: every path, parameter, body and reply is checked against `api.ts`, which is printed from the routes. */
import type { paths } from './api.ts'
import { jsonOf, readReply } from './reply.ts'

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
  /** Makes a POST safe to repeat: the server answers the second one with the reply of the first. */
  idempotencyKey?: string
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

/** One method of the client. */
export type Call<M extends Method> = <P extends PathOf<M>>(path: P, ...rest: Arguments<P, M>) => Promise<Reply<P, M>>

export type Client = { [M in Method]: Call<M> } & {
  /** A request as it would be sent, for samples and for downloads. */
  url(path: string, options?: AnyOptions): string
}

type AnyOptions = CallOptions & { path?: object; query?: object; body?: unknown }

export type ClientOptions = {
  /** Where the server is: `https://carillon.example.com`. Empty: the origin of the page. */
  baseUrl?: string
  /** A secret, publishable or organisation key. The console has none; its cookie names the member. */
  apiKey?: string
  /** Sent with each request. */
  headers?: Record<string, string>
  fetch?: typeof fetch
}

/**
 * Creates a client. Each call resolves with the body of the reply, or rejects with a `CarillonError`, or with the reason of its signal if that
 * ends it.
 */
export function createClient(options: ClientOptions = {}): Client {
  const url = (path: string, { path: params = {}, query = {} }: AnyOptions = {}) =>
    `${options.baseUrl ?? ''}${fill(path, params)}${search(query)}`
  const call =
    (method: Method) =>
    (path: string, given: AnyOptions = {}) =>
      send(options, method, url(path, given), path.startsWith(FORMS) ? { ...given, body: formOf(given.body) } : given)
  return { get: call('get'), post: call('post'), put: call('put'), patch: call('patch'), delete: call('delete'), url } as Client
}

/** The utilities take forms. */
const FORMS = '/api/ext/'

const formOf = (body: unknown) =>
  new URLSearchParams(Object.entries(body ?? {}).filter((pair): pair is [string, string] => pair[1] !== undefined))

const fill = (path: string, params: object) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String((params as Record<string, unknown>)[name])))

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

async function send(options: ClientOptions, method: Method, url: string, given: AnyOptions): Promise<unknown> {
  const headers: Record<string, string> = { accept: 'application/json', ...options.headers, ...given.headers }
  if (options.apiKey !== undefined) headers.authorization = `Bearer ${options.apiKey}`
  if (given.idempotencyKey !== undefined) headers['idempotency-key'] = given.idempotencyKey
  // A file is sent as it is, under the type that the caller gives, and a form under its own.
  const isReady = given.body instanceof Blob || given.body instanceof URLSearchParams || typeof given.body === 'string'
  if (given.body !== undefined && !isReady) headers['content-type'] = 'application/json'
  const asked = (options.fetch ?? fetch)(url, {
    method: method.toUpperCase(),
    headers,
    ...(given.body !== undefined && { body: isReady ? (given.body as Blob | URLSearchParams | string) : JSON.stringify(given.body) }),
    ...(given.signal && { signal: given.signal }),
  })
  const { reply, text } = await readReply(asked, given.signal)
  if (text === '') return null
  if (!(reply.headers.get('content-type') ?? '').includes('json')) return text
  const body = jsonOf(reply, text)
  const etag = reply.headers.get('etag')
  if (etag !== null && typeof body === 'object' && body !== null) etags.set(body, etag)
  return body
}
