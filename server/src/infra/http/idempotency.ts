/**
 * Idempotency-Key (D-IDEM-1 to D-IDEM-6). The effects of a request and the record of its reply are committed in one transaction,
 * under an advisory lock on the key. So a request takes effect once, even if it is sent several times in parallel.
 */
import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { ApiError, fault } from '../../lib/errors.ts'
import type { KeyId } from '../../lib/ids.ts'
import { Nullable } from '../../lib/shapes.ts'
import { HOUR_MS } from '../../lib/times.ts'
import { isSqlState, LOCK_NOT_AVAILABLE, sql } from '../postgres/db.ts'
import type { Ctx, InTx } from '../runtime/ctx.ts'
import type { Route } from './route.ts'

/** A reply, as it is stored. `originalRequest` is set when it is replayed. */
export type StoredReply = { status: number; body: string | null; location: string | null; originalRequest?: string }

export type IdempotentRequest = {
  key: string
  keyId: KeyId
  route: Route
  path: string
  query: Record<string, string>
  body: unknown
  requestId: string
}

const WAITERS_MAX = 5

export const isIdempotent = (method: string): boolean => method !== 'GET'

/** The key of the request, or undefined. Throws 400 if it is empty, too long, not visible ASCII, or sent twice. */
export function readIdempotencyKey(rawHeaders: string[]): string | undefined {
  const values = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'idempotency-key')
  const [value] = values
  if (value === undefined) return undefined
  if (values.length > 1) throw fault('parameter_invalid_format', 'Idempotency-Key', 'The header `Idempotency-Key` may be sent only once.')
  if (value.trim() === '') throw fault('parameter_invalid_empty', 'Idempotency-Key', 'The header `Idempotency-Key` must not be empty.')
  if (!/^[!-~](?:[ -~]{0,253}[!-~])?$/.test(value)) {
    throw fault('parameter_invalid_format', 'Idempotency-Key', 'The header `Idempotency-Key` must be 1 to 255 visible ASCII characters.')
  }
  return value
}

/** The handler refused the request. Its reply is stored and replayed like a success (D-IDEM-5). */
export class HandlerRefusal extends Error {
  readonly error: ApiError
  readonly reply: StoredReply
  constructor(error: ApiError, reply: StoredReply) {
    super(error.message)
    this.error = error
    this.reply = reply
  }
}

const STORED_REFUSALS = [404, 409, 422]

export const isStoredRefusal = (error: unknown): error is ApiError => error instanceof ApiError && STORED_REFUSALS.includes(error.status)

type Work = (ctx: Ctx) => Promise<StoredReply>

const waiters = new Map<string, number>()

/** Runs `work` once per key. Later requests with the key get the same reply. */
export async function runOnce(ctx: Ctx, request: IdempotentRequest, work: Work): Promise<StoredReply> {
  const lock = `${request.keyId}:${request.key}`
  const ahead = waiters.get(lock) ?? 0
  // Each waiting request holds a database connection.
  if (ahead > WAITERS_MAX) throw inProgress()
  waiters.set(lock, ahead + 1)
  try {
    return await ctx.db.transaction((db) => underLock({ ...ctx, db }, lock, request, work))
  } catch (error) {
    if (isSqlState(error, LOCK_NOT_AVAILABLE)) throw inProgress()
    throw error
  } finally {
    const left = (waiters.get(lock) ?? 1) - 1
    if (left === 0) waiters.delete(lock)
    else waiters.set(lock, left)
  }
}

const inProgress = () =>
  new ApiError('idempotency_key_mismatch', 'The first request with this Idempotency-Key is still running. Try again in a second.', {
    reason: 'in_progress',
    headers: { 'retry-after': '1' },
  })

const differentRequest = () =>
  new ApiError('idempotency_key_mismatch', 'This Idempotency-Key was first used with a different request. Use a new key.', {
    reason: 'different_request',
  })

const Stored = Type.Object({
  fingerprint: Type.String(),
  status: Type.Integer(),
  body: Nullable(Type.String()),
  is_sealed: Type.Boolean(),
  location: Nullable(Type.String()),
  request_id: Type.String(),
})

async function underLock(ctx: InTx<Ctx>, lock: string, request: IdempotentRequest, work: Work): Promise<StoredReply> {
  await ctx.db.run(sql`select set_config('lock_timeout', ${`${ctx.config.IDEMPOTENCY_WAIT_MS}ms`}, true)`)
  await ctx.db.run(sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`)
  await ctx.db.run(sql`select set_config('lock_timeout', '0', true)`)
  const fingerprint = fingerprintOf(request)
  // READ COMMITTED: the snapshot is taken after the lock, so this sees the record of the previous request.
  const known = await find(ctx, request)
  if (known) {
    if (known.fingerprint !== fingerprint) throw differentRequest()
    const body = known.body !== null && known.is_sealed ? ctx.secrets.open(known.body, lock) : known.body
    return { status: known.status, body, location: known.location, originalRequest: known.request_id }
  }
  const reply = await runWork(ctx, work)
  await save(ctx, request, fingerprint, reply, lock)
  return reply
}

/** Runs the handler. If it refuses the request, its effects are rolled back. */
async function runWork(ctx: InTx<Ctx>, work: Work): Promise<StoredReply> {
  try {
    return await ctx.db.savepoint(() => work(ctx))
  } catch (error) {
    if (error instanceof HandlerRefusal) return error.reply
    throw error
  }
}

const find = (ctx: InTx<Ctx>, { keyId, key }: IdempotentRequest) =>
  ctx.db.first(
    Stored,
    sql`select fingerprint, status, body, is_sealed, location, request_id
        from idempotency_records
        where key_id = ${keyId} and idempotency_key = ${key} and expires_at > ${ctx.clock.now()}`,
  )

function save(ctx: InTx<Ctx>, request: IdempotentRequest, fingerprint: string, reply: StoredReply, lock: string) {
  const sealed = request.route.sensitive === true && reply.body !== null
  const body = sealed ? ctx.secrets.seal(reply.body as string, lock) : reply.body
  const expiresAt = new Date(ctx.clock.now().getTime() + ctx.config.IDEMPOTENCY_TTL_H * HOUR_MS)
  return ctx.db.run(
    sql`insert into idempotency_records (key_id, idempotency_key, fingerprint, status, body, is_sealed, location, request_id, expires_at)
        values (${request.keyId}, ${request.key}, ${fingerprint}, ${reply.status}, ${body}, ${sealed}, ${reply.location}, ${request.requestId}, ${expiresAt})
        on conflict (key_id, idempotency_key) do update
        set fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body, is_sealed = excluded.is_sealed,
            location = excluded.location, request_id = excluded.request_id, expires_at = excluded.expires_at`,
  )
}

const PURGE_BATCH = 10_000

/** Deletes expired records. Returns how many. */
export const purgeIdempotencyRecords = (ctx: Ctx): Promise<number> =>
  ctx.db.run(
    sql`delete from idempotency_records
        where (key_id, idempotency_key) in
          (select key_id, idempotency_key from idempotency_records where expires_at <= ${ctx.clock.now()} limit ${PURGE_BATCH})`,
  )

/** A hash of method, path, query and body that ignores white space and the order of members (D-IDEM-3). */
function fingerprintOf({ route, path, query, body }: Pick<IdempotentRequest, 'route' | 'path' | 'query' | 'body'>): string {
  const sortedQuery = Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(`${route.method}\n${path}\n${JSON.stringify(sortedQuery)}\n${canonical(body)}`)
    .digest('hex')
}

/** JSON with sorted members, similar to RFC 8785. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}
