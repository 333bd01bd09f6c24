/**
 * Turns the list of routes into an HTTP server. The order of checks is observable and fixed (D-HTTP-1):
 * route → overload → authentication → rate limit → version → credential kind, user token, role → media type and body
 * → idempotency → parameters → the handler. Anything thrown becomes an error reply here.
 */

import { METHODS as HTTP_METHODS } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { ApiError } from '../../lib/errors.ts'
import { ulid } from '../../lib/ids.ts'
import { LATEST_VERSION } from '../../lib/versions.ts'
import type { Ctx } from '../runtime/ctx.ts'
import type { EventLoopLag } from '../runtime/event-loop-lag.ts'
import { allowedAt } from './allowed.ts'
import { begin } from './begin.ts'
import { type CompiledRoute, compileRoute } from './compile.ts'
import { limitConnections, timeLimits } from './connections.ts'
import { corsHeaders, preflight } from './cors.ts'
import { encodingFor } from './encoding.ts'
import { errorReply, toApiError } from './error-reply.ts'
import { type Exchange, VARY } from './exchange.ts'
import { createLiveReplies, type LiveReplies } from './live.ts'
import { refuseUnderOverload } from './overload.ts'
import type { PublicPage } from './public-page.ts'
import { createRateLimits, type RateLimits } from './rate-limits.ts'
import { recordRequest } from './record-request.ts'
import type { Authenticator, Download, RecordWrite, Route } from './route.ts'
import { type Served, serve } from './serve.ts'
import { addPublicPages } from './serve-public-pages.ts'
import type { LogRequest } from './served-request.ts'

export type HttpOptions = {
  ctx: Ctx
  routes: Route[]
  pages: PublicPage[]
  authenticator: Authenticator
  /** Records the writes of routes that declare them for the audit log. */
  recordWrite: RecordWrite
  /** Keeps the requests of projects for the API log. */
  logRequest?: LogRequest
  baseUrl: () => string
  /** How late the event loop runs. Over a limit, only essential requests are served. */
  lag: EventLoopLag
  /** Called with every reply before it is sent, with null as the body of an error. Tests check it against its description. */
  onReply?: (route: Route, status: number, body: unknown) => void
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
/** An `external_id` has up to 255 characters, each of up to 12 characters when percent-encoded. */
const PATH_PARAMETER_LENGTH_MAX = 4096

const CLIENT_ERRORS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** Creates a server with all routes. It does not listen yet. */
export function createHttpServer(options: HttpOptions): FastifyInstance {
  const { ctx } = options
  const app = Fastify({
    logger: false,
    trustProxy: ctx.config.TRUST_PROXY.length > 0 ? [...ctx.config.TRUST_PROXY] : false,
    bodyLimit: Number.MAX_SAFE_INTEGER,
    ...timeLimits(ctx.config),
    forceCloseConnections: 'idle',
    // Requests that arrive during shutdown are served, and then their connection is closed.
    return503OnClosing: false,
    exposeHeadRoutes: false,
    genReqId: () => `req_${ulid(ctx.clock.now(), ctx.secrets.random(10))}`,
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: PATH_PARAMETER_LENGTH_MAX,
      querystringParser: (text) => ({ text }),
    },
    frameworkErrors: ({ code }, request, reply) => {
      void fail(options, request, reply, code === 'FST_ERR_MAX_PARAM_LENGTH' ? parameterTooLong() : pathMalformed())
    },
    clientErrorHandler: (error, socket) => {
      if (!socket.writable) return
      const status = CLIENT_ERRORS[(error as { code?: string }).code ?? ''] ?? '400 Bad Request'
      socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
    },
  })
  // `serve` checks bodies and their media types, after the permissions; Fastify would first, also for methods that no route has.
  for (const method of HTTP_METHODS) app.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  app.setErrorHandler((error, request, reply) => fail(options, request, reply, error))
  closeWhileDraining(app)
  limitConnections(app, ctx)
  const limits = createRateLimits(ctx.config)
  const allowAt = allowedAt(addRoutes(app, options, { limits, live: createLiveReplies(app, ctx) }))
  app.setNotFoundHandler((request, reply) => {
    const allow = allowAt(request.url)
    return fail(options, request, reply, allow === undefined ? routeMissing() : methodMissing(request.method, allow))
  })
  addPublicPages(app, { ...options, limits, fail: (request, reply, error) => fail(options, request, reply, error) })
  return app
}

/** Closes connections that were busy when the shutdown began. Otherwise they would stay open and keep the process running. */
function closeWhileDraining(app: FastifyInstance) {
  let draining = false
  app.addHook('preClose', (done) => {
    draining = true
    done()
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (draining) reply.header('connection', 'close')
    done()
  })
}

/** Shared by all routes of a server. */
type Shared = { limits: RateLimits; live: LiveReplies }

/** Returns the methods of each path, as `Allow` lists them. */
function addRoutes(app: FastifyInstance, options: HttpOptions, shared: Shared): Map<string, string> {
  const allowed = new Map<string, string>()
  for (const [path, compiled] of Map.groupBy(options.routes.map(compileRoute), ({ def }) => def.path)) {
    const url = path.replace(/\{(\w+)\}/g, ':$1')
    const allow = allowOf(compiled)
    allowed.set(path, allow)
    const add = (method: string[], handler: (request: FastifyRequest, reply: FastifyReply) => Promise<void>) =>
      app.route({
        method,
        url,
        handler: (request, reply) => (hasEmptyParameter(request) ? fail(options, request, reply, routeMissing()) : handler(request, reply)),
      })
    for (const route of compiled) add(methodsOf(route), (request, reply) => answer(options, { ...shared, route, request, reply }))
    const served = compiled.flatMap(methodsOf)
    // Without a handler of its own, HEAD would fall through to a path with a parameter.
    const others = [...METHODS, 'HEAD'].filter((method) => !served.includes(method))
    add(others, (request, reply) => fail(options, request, reply, methodMissing(request.method, allow)))
    app.route({ method: 'OPTIONS', url, handler: (request, reply) => preflight(request, reply, compiled, allow) })
  }
  return allowed
}

const methodsOf = ({ def }: CompiledRoute): string[] => (def.method === 'GET' ? ['GET', 'HEAD'] : [def.method])

const allowOf = (routes: CompiledRoute[]) => [...routes.flatMap(methodsOf), 'OPTIONS'].join(', ')

/** Two slashes in a row match a parameter, but are another path (D-HTTP-4). */
const hasEmptyParameter = ({ params }: FastifyRequest): boolean => Object.values(params as Record<string, string>).includes('')

const routeMissing = () => new ApiError('resource_missing', 'This path does not exist. See /docs for the API.', { reason: 'route' })

const parameterTooLong = () => new ApiError('resource_missing', 'Nothing with so long an identifier exists in this project.')

const pathMalformed = () => new ApiError('parameter_invalid_format', 'The percent-encoding of the path is malformed.')

const methodMissing = (method: string, allow: string) =>
  new ApiError('resource_missing', `${method} is not supported here. Use ${allow}.`, {
    status: 405,
    reason: 'method',
    headers: { allow },
  })

type Answering = Shared & { route: CompiledRoute; request: FastifyRequest; reply: FastifyReply }

async function answer(options: HttpOptions, { route, limits, live, request, reply }: Answering): Promise<void> {
  const started = performance.now()
  const exchange: Exchange = {
    request,
    requestId: request.id,
    version: LATEST_VERSION,
    headers: corsHeaders(route),
    spent: new Map(),
    logFields: {},
  }
  reply.headers(exchange.headers)
  try {
    refuseUnderOverload(options.ctx, options.lag, route.def as Route)
    const served = await serve({ ...options, limits }, route, exchange)
    if ('download' in served) return await sendDownload(options, request, reply, exchange, served)
    if ('live' in served) return await live.send(request, reply, { ...commonHeaders(exchange), ...exchange.headers }, served.live)
    const { status, body, location } = served
    options.onReply?.(route.def as Route, status, body === null ? null : JSON.parse(body))
    if (location !== null) exchange.headers.location = location
    await send(request, reply, exchange, status, body)
  } catch (error) {
    await fail(options, request, reply, error, exchange, route)
  } finally {
    recordRequest(options, request, reply, route, exchange, performance.now() - started)
  }
}

const gzipAsync = promisify(gzip)
const brotliAsync = promisify(brotliCompress)
const COMPRESS_FROM_BYTES = 1024
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  exchange: Pick<Exchange, 'requestId' | 'version' | 'headers'>,
  status: number,
  body: string | null,
): Promise<void> {
  reply.code(status).headers({ ...commonHeaders(exchange), ...exchange.headers })
  if (body === null) {
    await reply.send()
    return
  }
  reply.header('content-type', 'application/json; charset=utf-8')
  const encoded = await compressed(request, reply, body)
  if (request.method === 'HEAD') {
    reply.header('content-length', Buffer.byteLength(encoded))
    await reply.send()
    return
  }
  await reply.send(encoded)
}

const commonHeaders = ({ requestId, version }: Pick<Exchange, 'requestId' | 'version'>) => ({
  'x-request-id': requestId,
  'service-version': version,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  vary: VARY,
})

/** A body that is not compressed stays a text: Node writes it together with the headers. */
async function compressed(request: FastifyRequest, reply: FastifyReply, body: string): Promise<Buffer | string> {
  const encoding = Buffer.byteLength(body) > COMPRESS_FROM_BYTES ? encodingFor(request.headers['accept-encoding']) : null
  if (encoding === null) return body
  reply.header('content-encoding', encoding)
  return encoding === 'gzip' ? gzipAsync(body) : brotliAsync(body, BROTLI)
}

/** Sends a file while it is read. If reading fails, the connection is cut, so that the client notices that the file is incomplete. */
async function sendDownload(
  { ctx }: HttpOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  exchange: Exchange,
  { download: { filename, parts }, type }: Extract<Served, { download: Download }>,
): Promise<void> {
  const begun = await begin(parts)
  reply.code(200).headers({ ...commonHeaders(exchange), ...exchange.headers })
  reply.headers({
    'content-type': type === 'application/json' ? type : `${type}; charset=utf-8`,
    'content-disposition': `attachment; filename="${filename}"`,
  })
  const encoding = encodingFor(request.headers['accept-encoding'])
  if (encoding !== null) reply.header('content-encoding', encoding)
  if (request.method === 'HEAD') {
    await begun.return()
    await reply.send()
    return
  }
  const source = Readable.from(begun, { objectMode: false })
  source.on('error', (err) => ctx.log.error({ request_id: exchange.requestId, err, ...exchange.logFields }, 'download failed'))
  const encoder = encoding === 'gzip' ? createGzip() : encoding === 'br' ? createBrotliCompress(BROTLI) : null
  await reply.send(encoder ? pipeline(source, encoder, () => undefined) : source)
}

async function fail(
  options: HttpOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  thrown: unknown,
  exchange?: Exchange,
  route?: CompiledRoute,
): Promise<void> {
  const error = toApiError(thrown)
  if (exchange) exchange.error = error
  if (route) options.onReply?.(route.def as Route, error.status, null)
  const about = exchange ?? { requestId: request.id, version: LATEST_VERSION, headers: {} }
  if (error.code === 'rate_limited')
    options.ctx.metrics.rateLimited(exchange?.logFields.project_id === undefined ? 'address' : 'credential')
  if (error.status >= 500 && error.reason !== 'overloaded')
    options.ctx.log.error({ request_id: about.requestId, err: thrown, ...exchange?.logFields }, 'request failed')
  const headers = { ...about.headers, ...error.headers, 'content-language': 'en-AU' }
  const unread = !request.raw.complete && request.method !== 'GET' && request.method !== 'HEAD'
  // The rest of a body that was not read would be parsed as the next request.
  if (unread) Object.assign(headers, { connection: 'close' })
  await send(request, reply, { ...about, headers }, error.status, JSON.stringify(errorReply(error, about.requestId, options.baseUrl())))
}
