/** Steps 5 to 14 of D-HTTP-1 for one request, in order. */
import type { FastifyRequest } from 'fastify'
import { unauthenticated } from '../../lib/credentials.ts'
import { ApiError, fault } from '../../lib/errors.ts'
import type { ProjectId, UserId } from '../../lib/ids.ts'
import { networkOf } from '../../lib/networks.ts'
import { atLeast, organisationAtLeast, type Role } from '../../lib/roles.ts'
import { CLI_USER_AGENT } from '../../lib/versions.ts'
import type { Actor, Caller, Ctx, Origin } from '../runtime/ctx.ts'
import { childWhenUsed } from '../runtime/log.ts'
import { spendQuota } from '../runtime/quota.ts'
import type { ReplyRecord } from '../runtime/reply-record.ts'
import { recorded } from './audited.ts'
import { checkMediaType, parseJson, parsePairs, readBody, readsBody, toRecord } from './body.ts'
import type { CompiledRoute } from './compile.ts'
import { allowOrigin } from './cors.ts'
import { errorReply } from './error-reply.ts'
import { HandlerRefusal, isIdempotent, isStoredRefusal, readIdempotencyKey, runOnce, type StoredReply } from './idempotency.ts'
import { inputOf, queryOf } from './input.ts'
import type { BucketName, RateLimits } from './rate-limits.ts'
import type { Access, Authenticator, Credential, Download, Live, LiveCall, Received, RecordWrite, Route } from './route.ts'
import { type OpenBody, openBody, receive } from './streamed.ts'
import { versionOf } from './version.ts'

/** One request, with what is collected on the way for the reply headers, the log and the metrics. */
export type Exchange = {
  request: FastifyRequest
  requestId: string
  version: string
  headers: Record<string, string>
  logFields: { project_id?: ProjectId; key_id?: number; replayed?: true }
}

/** The parts of the server that `serve` needs. */
export type Serving = { ctx: Ctx; authenticator: Authenticator; recordWrite: RecordWrite; limits: RateLimits; baseUrl: () => string }

/** A reply: JSON that can be stored and replayed, or else a file or a live reply. */
export type Served = StoredReply | { download: Download; type: string } | { live: (signal: AbortSignal) => Promise<Live> }

/** Serves one request. Anything thrown becomes an error reply. */
export async function serve(
  { ctx, authenticator, recordWrite, limits, baseUrl }: Serving,
  route: CompiledRoute,
  exchange: Exchange,
): Promise<Served> {
  const { request } = exchange
  const credential = await authenticate(ctx, authenticator, limits, exchange)
  Object.assign(exchange.headers, spendRateLimits(ctx, limits, route, credential, request))
  if (credential.kind === 'publishable') {
    Object.assign(exchange.headers, allowOrigin(credential, single(request, 'origin')))
    Object.assign(exchange.headers, limits.spend(['address'], `${credential.keyId}:${networkOf(request.ip)}`, ctx.clock.now().getTime()))
  }
  exchange.version = versionOf(single(request, 'service-version'), credential.apiVersion, ctx.config.REQUIRE_API_VERSION)
  const caller = await authorise(ctx, authenticator, limits, route, credential, exchange)
  const body = await bodyOf(ctx, route, request)
  const inner = contextOf(ctx, credential, caller, exchange)
  if (route.replies === 'file') return serveDownload(inner, route, exchange)
  if (route.replies === 'live') return serveLive(inner, authenticator, route, exchange)
  const key = isIdempotent(route.def.method) && !route.isExt ? readIdempotencyKey(request.raw.rawHeaders) : undefined
  await using received =
    body.open && (await receive(inner, route, { ...inputOf(route, exchange), stream: body.open.stream, charset: body.open.charset }))
  const work = (ctx: Ctx, record?: ReplyRecord) =>
    handle(ctx, route, { ...body, received, record }, exchange, { recordWrite, baseUrl: baseUrl() })
  // Awaited here, because `received` is disposed of when this function returns.
  if (key === undefined) return await work(inner)
  exchange.headers['idempotency-key'] = key
  const stored = await runOnce(
    inner,
    {
      key,
      keyId: credential.keyId,
      route: route.def as Route,
      path: pathOf(request),
      query: queryOf(request),
      body: body.open ? { sha256: body.open.digest() } : body.value,
      requestId: exchange.requestId,
    },
    work,
  )
  if (stored.originalRequest) {
    exchange.logFields.replayed = true
    ctx.metrics.idempotentReplay()
    Object.assign(exchange.headers, { 'idempotent-replayed': 'true', 'original-request': stored.originalRequest })
  }
  return stored
}

const pathOf = (request: FastifyRequest) => decodeURIComponent(request.raw.url?.split('?')[0] ?? '').replace(/\/$/, '')

/** A header with one value. */
function single(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}

const KEY = /^Bearer +((?:sk|pk|ok)_[A-Za-z0-9_-]{16,250})$/i

async function authenticate(ctx: Ctx, authenticator: Authenticator, limits: RateLimits, exchange: Exchange): Promise<Credential> {
  const { request } = exchange
  try {
    const key = keyOf(request)
    const credential = await authenticator.authenticate(ctx, key)
    exchange.logFields.key_id = credential.keyId
    if ('projectId' in credential) exchange.logFields.project_id = credential.projectId
    return credential
  } catch (error) {
    throw countedFailure(ctx, limits, request, error)
  }
}

function countedFailure(ctx: Ctx, limits: RateLimits, request: FastifyRequest, error: unknown): unknown {
  if (error instanceof ApiError && error.status === 401) limits.failedAuthentication(request.ip, ctx.clock.now().getTime())
  return error
}

function keyOf(request: FastifyRequest): string {
  const headers = authorizationsOf(request.raw.rawHeaders)
  const [header] = headers
  if (header === undefined || header.trim() === '') throw unauthenticated('key_missing')
  const key = headers.length === 1 ? KEY.exec(header.trim())?.[1] : undefined
  if (key) return key
  if (headers.length === 1 && header.trim().toLowerCase() === 'bearer') throw unauthenticated('key_empty')
  throw unauthenticated(/^Bearer +[!-~]+$/i.test(header.trim()) && headers.length === 1 ? 'key_invalid' : 'key_malformed')
}

/** All headers of this name: Node gives only the first of them in `headers`. */
function authorizationsOf(rawHeaders: string[]): string[] {
  const found: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length === 'authorization'.length && name.toLowerCase() === 'authorization') found.push(rawHeaders[at + 1] as string)
  }
  return found
}

function spendRateLimits(ctx: Ctx, limits: RateLimits, { def, isExt }: CompiledRoute, credential: Credential, request: FastifyRequest) {
  const names: BucketName[] = isExt ? [def.bucket ?? 'ext'] : def.method === 'GET' ? ['read'] : ['write']
  if (def.list && /(?:^|&)limit=-1(?:&|$)/.test((request.query as { text: string }).text)) names.push('all')
  return limits.spend(names, String(credential.keyId), ctx.clock.now().getTime())
}

/** Step 8: checks the kind of credential, then the user token, then the role. */
async function authorise(
  ctx: Ctx,
  authenticator: Authenticator,
  limits: RateLimits,
  { def }: CompiledRoute,
  credential: Credential,
  exchange: Exchange,
): Promise<Caller> {
  const access = def.access as Access & { secret?: Role; organisation?: string; publishable?: 'user' | 'anonymous'; smtpproxy?: true }
  const { keyId } = credential
  switch (credential.kind) {
    case 'organisation':
      if (access.organisation === undefined) throw refused('key_kind', 'An organisation key cannot be used here. Use a project key.')
      if (!organisationAtLeast(credential.role, access.organisation as typeof credential.role))
        throw refused('role', 'This key’s role does not permit this operation.')
      return { kind: 'organisation', keyId, role: credential.role, organisationId: credential.organisationId }
    case 'secret':
      if (access.secret === undefined)
        throw refused(
          'key_kind',
          `${access.organisation ? 'Use an organisation key' : 'Use a publishable key with a user token'} for this operation.`,
        )
      if (!allows({ secret: access.secret, smtpproxy: access.smtpproxy }, credential.role) && !isOwnKey(def, exchange, keyId))
        throw refused('role', 'This key’s role does not permit this operation.')
      return { kind: 'secret', keyId, role: credential.role }
    case 'publishable': {
      if (access.publishable === undefined) throw refused('not_publishable', 'A publishable key cannot be used for this operation.')
      const token = single(exchange.request, 'x-service-user-token')
      if (token === undefined && access.publishable === 'anonymous') return { kind: 'anonymous', keyId }
      return { kind: 'user', keyId, userId: await userOf(ctx, authenticator, limits, credential, token, exchange) }
    }
    default:
      return credential satisfies never
  }
}

const allows = ({ secret, smtpproxy }: { secret: Role; smtpproxy: true | undefined }, role: Role): boolean =>
  role === 'smtpproxy' ? smtpproxy === true : atLeast(role, secret)

const isOwnKey = (def: Route | CompiledRoute['def'], { request }: Exchange, keyId: number) =>
  'ownKey' in def.access && def.access.ownKey === true && (request.params as Record<string, string>).keyId === String(keyId)

async function userOf(
  ctx: Ctx,
  authenticator: Authenticator,
  limits: RateLimits,
  credential: Extract<Credential, { kind: 'secret' | 'publishable' }>,
  token: string | undefined,
  { request, headers }: Exchange,
): Promise<UserId> {
  try {
    if (token === undefined || token.trim() === '') throw unauthenticated('user_token_missing')
    const userId = await authenticator.userOf(ctx, credential, token.trim())
    Object.assign(headers, limits.spend(['user'], `${credential.keyId}:${userId}`, ctx.clock.now().getTime()))
    return userId
  } catch (error) {
    throw countedFailure(ctx, limits, request, error)
  }
}

const refused = (reason: 'key_kind' | 'not_publishable' | 'role', message: string) => new ApiError('permission_denied', message, { reason })

type Body = { value: unknown; raw: Buffer; open?: OpenBody }

const NO_BODY: Body = { value: undefined, raw: Buffer.alloc(0) }

async function bodyOf(ctx: Ctx, route: CompiledRoute, request: FastifyRequest): Promise<Body> {
  const { def, takes } = route
  if (!readsBody(def)) return NO_BODY
  if (takes === 'stream') return { ...NO_BODY, open: await openBody(ctx, route, request) }
  const raw = await readBody(
    ctx,
    request.raw,
    takes === 'form' ? ctx.config.FORM_BODY_LIMIT : Math.max(ctx.config.JSON_BODY_LIMIT, def.bodyBytesMax ?? 0),
  )
  if (raw.length > 0) checkMediaType(request.headers['content-type'], takes === 'form' ? 'form' : 'json', def.method)
  if (takes === 'form') return { value: toRecord(parsePairs(raw.toString('utf8'))), raw }
  if (raw.length > 0) return { value: parseJson(raw), raw }
  if (takes === 'nothing' || 'optionalBody' in (def.body ?? {})) return { value: {}, raw }
  throw fault('parameter_missing', 'body', 'This operation needs a JSON body.')
}

function contextOf(ctx: Ctx, credential: Credential, caller: Caller, { requestId, request }: Exchange): Ctx {
  const { keyId, name, organisationId } = credential
  const log = childWhenUsed(ctx.log, { request_id: requestId, key_id: keyId })
  const actor: Actor = { kind: 'key', id: keyId, name }
  const origin: Origin = { via: isCommandLine(request) ? 'cli' : 'api', requestId, organisationId }
  if (credential.kind === 'organisation') return Object.assign({}, ctx, { log, caller, actor, origin, organisationId })
  return Object.assign({}, ctx, { log, caller, actor, origin, projectId: credential.projectId, project: credential.project })
}

const isCommandLine = (request: FastifyRequest) => single(request, 'user-agent')?.startsWith(CLI_USER_AGENT) === true

/** Checks the parameters, then runs the handler. */
async function handle(
  ctx: Ctx,
  route: CompiledRoute,
  { value, raw, received, record }: Omit<Body, 'open'> & { received: Received | undefined; record: ReplyRecord | undefined },
  exchange: Exchange,
  { recordWrite, baseUrl }: { recordWrite: RecordWrite; baseUrl: string },
): Promise<StoredReply> {
  const { def } = route
  const input = inputOf(route, exchange, value)
  if (route.isExt) await spendQuota(ctx, 'ext_calls_month')
  const work = (ctx: Ctx) => run(def as Route, ctx, { ...input, raw, received, record }, baseUrl)
  const result = await recorded(ctx, def as Route, input, recordWrite, work)
  const status = def.status ?? 200
  const location = (def.location as ((reply: unknown) => string) | undefined)?.(result) ?? null
  return { status, body: status === 204 ? null : JSON.stringify(result), location }
}

const serveDownload = async (ctx: Ctx, route: CompiledRoute, exchange: Exchange): Promise<Served> => ({
  download: (await (route.def.run as unknown as (ctx: Ctx, input: unknown) => Promise<unknown>)(ctx, inputOf(route, exchange))) as Download,
  type: String((route.def.reply as { contentMediaType?: string }).contentMediaType),
})

/** Checks the parameters at once. The events start when the caller passes a signal to end them. */
function serveLive(ctx: Ctx, authenticator: Authenticator, route: CompiledRoute, exchange: Exchange): Served {
  const { request } = exchange
  const input = inputOf(route, exchange)
  const call = { lastEventId: single(request, 'last-event-id'), again: () => authenticateAgain(ctx, authenticator, request) }
  return {
    live: (signal) =>
      (route.def.run as unknown as (ctx: Ctx, input: object) => Promise<Live>)(ctx, {
        ...input,
        live: { ...call, signal } satisfies LiveCall,
      }),
  }
}

/** Authenticates the user of an earlier request again. Spends no rate limit. */
async function authenticateAgain(ctx: Ctx, authenticator: Authenticator, request: FastifyRequest): Promise<UserId> {
  const credential = await authenticator.authenticate(ctx, keyOf(request))
  const token = single(request, 'x-service-user-token')
  if (token === undefined || !('projectId' in credential)) throw unauthenticated('user_token_missing')
  return authenticator.userOf(ctx, credential, token.trim())
}

async function run(def: Route, ctx: Ctx, input: { requestId: string } & Record<string, unknown>, baseUrl: string): Promise<unknown> {
  try {
    return await (def.run as (ctx: Ctx, input: unknown) => Promise<unknown>)(ctx, input)
  } catch (error) {
    if (!isStoredRefusal(error)) throw error
    const body = JSON.stringify(errorReply(error, input.requestId, baseUrl))
    throw new HandlerRefusal(error, { status: error.status, body, location: null })
  }
}
