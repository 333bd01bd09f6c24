/** Steps 5 to 14 of D-HTTP-1 for one request, in order. */
import type { FastifyRequest } from 'fastify'
import { unauthenticated } from '../../lib/credentials.ts'
import { ApiError } from '../../lib/errors.ts'
import type { UserId } from '../../lib/ids.ts'
import { acceptedLanguage } from '../../lib/languages.ts'
import { networkOf } from '../../lib/networks.ts'
import { atLeast, organisationAtLeast, type Role } from '../../lib/roles.ts'
import { CLI_USER_AGENT } from '../../lib/versions.ts'
import type { Caller, Ctx, Origin } from '../runtime/ctx.ts'
import { childWhenUsed } from '../runtime/log.ts'
import type { ReplyRecord } from '../runtime/reply-record.ts'
import { authenticate, authenticateAgain, counted, credentialAgain } from './authenticate.ts'
import type { CompiledRoute } from './compile.ts'
import { allowOrigin } from './cors.ts'
import { type Exchange, type Serving, single, VARY } from './exchange.ts'
import { bodyOf, handle, prepare } from './handle.ts'
import { isIdempotent, keyOfCaller, readIdempotencyKey, runOnce, type StoredReply } from './idempotency.ts'
import { asksForAll, inputOf, queryOf } from './input.ts'
import type { BucketName, RateLimits } from './rate-limits.ts'
import type { Access, Authenticator, Credential, Download, Live, LiveCall, Route } from './route.ts'
import { serveConsole } from './serve-console.ts'
import { receive } from './streamed.ts'
import { versionOf } from './version.ts'
import { etagOf } from './versions.ts'

/** A reply: JSON that can be stored and replayed, or else a file or a live reply. */
export type Served = StoredReply | { download: Download; type: string } | { live: (signal: AbortSignal) => Promise<Live> }

/** Serves one request. Anything thrown becomes an error reply. */
export async function serve(serving: Serving, route: CompiledRoute, exchange: Exchange): Promise<Served> {
  if (route.consoleAccess) return serveConsole(serving, route, route.consoleAccess, exchange)
  const { ctx, authenticator, limits } = serving
  const { request } = exchange
  const credential = await authenticate(serving, exchange)
  Object.assign(exchange.headers, spendRateLimits(ctx, limits, route, credential, exchange))
  if (credential.kind === 'publishable') {
    Object.assign(exchange.headers, allowOrigin(credential, single(request, 'origin')))
    const address = `${credential.keyId}:${networkOf(request.ip)}`
    Object.assign(exchange.headers, limits.spend(['address'], address, ctx.clock.now().getTime(), exchange.spent))
  }
  exchange.version = versionOf(single(request, 'service-version'), credential.apiVersion, ctx.config.REQUIRE_API_VERSION)
  const caller = await authorise(ctx, authenticator, limits, route, credential, exchange)
  const body = await bodyOf(ctx, route, request)
  exchange.body = body.value
  const inner = contextOf(ctx, credential, caller, exchange)
  if (route.def.translated) Object.assign(exchange.headers, { 'content-language': inner.language, vary: `${VARY}, Accept-Language` })
  if (route.replies === 'file') return serveDownload(inner, route, exchange)
  if (route.replies === 'live') return serveLive(inner, authenticator, limits, route, exchange)
  const key = isIdempotent(route.def.method) && !route.isExt ? readIdempotencyKey(request.raw.rawHeaders) : undefined
  await using received =
    body.open && (await receive(inner, route, { ...inputOf(route, exchange), stream: body.open.stream, charset: body.open.charset }))
  const prepared = await prepare(inner, route, body, exchange)
  const work = (ctx: Ctx, record?: ReplyRecord) => handle(serving, ctx, route, { ...body, received, prepared, record }, exchange)
  // Awaited here, because `received` is disposed of when this function returns.
  if (key === undefined) return withVersion(route, exchange, await work(inner))
  exchange.headers['idempotency-key'] = key
  const stored = await runOnce(
    inner,
    {
      key: keyOfCaller(caller, key),
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
  return withVersion(route, exchange, stored)
}

/** The version of the object in a reply, also in one that is replayed. */
function withVersion({ def: { versioned } }: CompiledRoute, { headers }: Exchange, reply: StoredReply): StoredReply {
  const etag = versioned && reply.body !== null && reply.status < 300 ? etagOf(versioned, reply.body) : undefined
  if (etag !== undefined) headers.etag = etag
  return reply
}

/** The path in one spelling. A slash within an id stays encoded, so that no two paths become one. */
function pathOf(request: FastifyRequest): string {
  const path = (request.raw.url?.split('?')[0] ?? '').replace(/\/$/, '')
  const names = path.split('/').map((name) => decodeURIComponent(name).replaceAll('%', '%25').replaceAll('/', '%2F'))
  return names.join('/')
}

function spendRateLimits(
  ctx: Ctx,
  limits: RateLimits,
  { def, isExt }: CompiledRoute,
  credential: Credential,
  { request, spent }: Exchange,
): Record<string, string> {
  const names: BucketName[] = [def.bucket ?? (isExt ? 'ext' : def.method === 'GET' ? 'read' : 'write')]
  if (def.list && asksForAll((request.query as { text: string }).text)) names.push('all')
  return limits.spend(names, String(credential.keyId), ctx.clock.now().getTime(), spent)
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
        throw refused('role', roleTooLow(credential))
      return { kind: 'organisation', keyId, role: credential.role, organisationId: credential.organisationId }
    case 'secret':
      if (access.secret === undefined)
        throw refused(
          'key_kind',
          `${access.organisation ? 'Use an organisation key' : 'Use a publishable key with a user token'} for this operation.`,
        )
      if (!allows({ secret: access.secret, smtpproxy: access.smtpproxy }, credential.role) && !isOwnKey(def, exchange, keyId))
        throw refused('role', roleTooLow(credential))
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
  { request, headers, spent }: Exchange,
): Promise<UserId> {
  return counted(ctx, limits, request, async () => {
    if (token === undefined || token.trim() === '') throw unauthenticated('user_token_missing')
    const userId = await authenticator.userOf(ctx, credential, token.trim())
    Object.assign(headers, limits.spend(['user'], `${credential.keyId}:${userId}`, ctx.clock.now().getTime(), spent))
    return userId
  })
}

const roleTooLow = ({ actor }: Credential) => `${actor.kind === 'member' ? 'Your role' : 'This key’s role'} does not permit this operation.`

const refused = (reason: 'key_kind' | 'not_publishable' | 'role', message: string) => new ApiError('permission_denied', message, { reason })

function contextOf(ctx: Ctx, credential: Credential, caller: Caller, { requestId, request }: Exchange): Ctx {
  const { keyId, actor, organisationId } = credential
  const log = childWhenUsed(ctx.log, { request_id: requestId, key_id: keyId })
  const origin: Origin = { via: viaOf(credential, request), requestId, organisationId }
  const language = acceptedLanguage(single(request, 'accept-language'))
  if (credential.kind === 'organisation') return Object.assign({}, ctx, { log, caller, actor, origin, language, organisationId })
  return Object.assign({}, ctx, { log, caller, actor, origin, language, projectId: credential.projectId, project: credential.project })
}

/** The interface that a request came through. */
export function viaOf({ actor }: Credential, request: FastifyRequest): Origin['via'] {
  if (actor.kind === 'member') return 'console'
  return single(request, 'user-agent')?.startsWith(CLI_USER_AGENT) ? 'cli' : 'api'
}

const serveDownload = async (ctx: Ctx, route: CompiledRoute, exchange: Exchange): Promise<Served> => ({
  download: (await (route.def.run as unknown as (ctx: Ctx, input: unknown) => Promise<unknown>)(ctx, inputOf(route, exchange))) as Download,
  type: String((route.def.reply as { contentMediaType?: string }).contentMediaType),
})

/** Checks the parameters at once. The events start when the caller passes a signal to end them. */
function serveLive(ctx: Ctx, authenticator: Authenticator, limits: RateLimits, route: CompiledRoute, exchange: Exchange): Served {
  const { request } = exchange
  const input = inputOf(route, exchange)
  const call = {
    lastEventId: single(request, 'last-event-id'),
    again: () => authenticateAgain(ctx, authenticator, request),
    requireStill: async () => {
      await authorise(ctx, authenticator, limits, route, await credentialAgain(ctx, authenticator, request), exchange)
    },
  }
  return {
    live: (signal) =>
      (route.def.run as unknown as (ctx: Ctx, input: object) => Promise<Live>)(ctx, {
        ...input,
        live: { ...call, signal } satisfies LiveCall,
      }),
  }
}
