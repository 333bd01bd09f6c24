/** The last steps of D-HTTP-1, the same for every kind of caller: the body, the parameters, the handler. */
import type { FastifyRequest } from 'fastify'
import { fault } from '../../lib/errors.ts'
import { Written } from '../../lib/written.ts'
import type { Ctx } from '../runtime/ctx.ts'
import { spendQuota } from '../runtime/quota.ts'
import type { ReplyRecord } from '../runtime/reply-record.ts'
import { recorded } from './audited.ts'
import { checkMediaType, parseForm, parseJson, readBody, readsBody } from './body.ts'
import type { CompiledRoute } from './compile.ts'
import { errorReply } from './error-reply.ts'
import type { Exchange, Serving } from './exchange.ts'
import { HandlerRefusal, isStoredRefusal, type StoredReply } from './idempotency.ts'
import { inputOf } from './input.ts'
import type { Browser, Received, Route } from './route.ts'
import { type OpenBody, openBody } from './streamed.ts'
import { readConditions } from './versions.ts'

export type Body = { value: unknown; raw: Buffer; open?: OpenBody }

const NO_BODY: Body = { value: undefined, raw: Buffer.alloc(0) }

/** Reads the body of a request, or opens it if the route takes a stream. */
export async function bodyOf(ctx: Ctx, route: CompiledRoute, request: FastifyRequest): Promise<Body> {
  const { def, takes } = route
  if (!readsBody(def)) return NO_BODY
  if (takes === 'stream') return { ...NO_BODY, open: await openBody(ctx, route, request) }
  const checkType = () => checkMediaType(request.headers['content-type'], takes === 'form' ? 'form' : 'json', def.method)
  const raw = await readBody(
    ctx,
    request.raw,
    takes === 'form' ? ctx.config.FORM_BODY_LIMIT : Math.max(ctx.config.JSON_BODY_LIMIT, def.bodyBytesMax ?? 0),
  ).catch((error: unknown) => {
    // The media type decides first (D-HTTP-1). An empty body, which may have any, can be read.
    checkType()
    throw error
  })
  if (raw.length > 0) checkType()
  if (takes === 'form') return { value: parseForm(raw), raw }
  if (raw.length > 0) return { value: parseJson(raw), raw }
  if (takes === 'nothing' || 'optionalBody' in (def.body ?? {})) return { value: {}, raw }
  throw fault('parameter_missing', 'body', 'This operation needs a JSON body.')
}

/** What the handler gets beside the parameters. */
type Given = Omit<Body, 'open'> & {
  received?: Received | undefined
  record?: ReplyRecord | undefined
  browser?: Browser
  prepared?: Prepared
}

/** Gives the handler what `prepare` returned, or throws what it threw. */
type Prepared = () => unknown

const NOTHING_PREPARED: Prepared = () => undefined

/** Runs the `prepare` of a route. Parameters that are refused here are refused again, in their turn, by `handle`. */
export async function prepare(ctx: Ctx, route: CompiledRoute, { value }: Body, exchange: Exchange): Promise<Prepared> {
  const run = route.def.prepare as ((ctx: Ctx, input: unknown) => Promise<unknown>) | undefined
  if (!run) return NOTHING_PREPARED
  try {
    const prepared = await run(ctx, inputOf(route, exchange, value))
    return () => prepared
  } catch (error) {
    return () => {
      throw error
    }
  }
}

/** Checks the parameters, then runs the handler. */
export async function handle(
  { recordWrite, baseUrl }: Pick<Serving, 'recordWrite' | 'baseUrl'>,
  ctx: Ctx,
  route: CompiledRoute,
  { value, prepared = NOTHING_PREPARED, ...given }: Given,
  exchange: Exchange,
): Promise<StoredReply> {
  const { def } = route
  const input = inputOf(route, exchange, value)
  if (route.isExt) await spendQuota(ctx, 'ext_calls_month')
  const conditions = def.versioned ? readConditions(exchange.request.headers) : {}
  const work = fromReplica(route, (ctx) => run(def as Route, ctx, { ...input, ...given }, prepared, baseUrl()))
  const effect = await recorded(ctx, def as Route, { ...input, conditions }, recordWrite, work)
  const completed = def.committed as ((ctx: Ctx, reply: unknown) => Promise<unknown>) | undefined
  const result = completed ? await completed(ctx, effect) : effect
  const status = def.status ?? 200
  const location = (def.location as ((reply: unknown) => string) | undefined)?.(result) ?? null
  return { status, body: status === 204 ? null : jsonOf(result), location }
}

const jsonOf = (reply: unknown): string => (reply instanceof Written ? reply.json : JSON.stringify(reply))

/** Lists are read from a replica, if there is one. */
const fromReplica =
  <T>({ def }: CompiledRoute, work: (ctx: Ctx) => Promise<T>) =>
  (ctx: Ctx): Promise<T> =>
    ctx.replica && def.list && def.method === 'GET' ? ctx.replica.read(ctx.db, (db) => work({ ...ctx, db })) : work(ctx)

async function run(
  def: Route,
  ctx: Ctx,
  input: { requestId: string } & Record<string, unknown>,
  prepared: Prepared,
  baseUrl: string,
): Promise<unknown> {
  try {
    return await (def.run as (ctx: Ctx, input: unknown) => Promise<unknown>)(ctx, { ...input, prepared: prepared() })
  } catch (error) {
    if (!isStoredRefusal(error)) throw error
    const body = JSON.stringify(errorReply(error, input.requestId, baseUrl))
    throw new HandlerRefusal(error, { status: error.status, body, location: null })
  }
}
