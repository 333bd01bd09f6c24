/**
 * Idempotency-Key (D-IDEM-1 to D-IDEM-6). The effects of a request and the record of its reply commit together, so a request takes effect
 * once, even if it is sent several times in parallel. One statement claims the key, and one keeps the reply.
 */
import { ApiError, fault } from '../../lib/errors.ts'
import type { KeyId } from '../../lib/ids.ts'
import { HOUR_MS } from '../../lib/times.ts'
import { Conflict, isSqlState, LOCK_NOT_AVAILABLE } from '../postgres/db.ts'
import { type Caller, type Ctx, type InTx, inTx } from '../runtime/ctx.ts'
import { AlreadyRecorded, type RecordedRequest, type ReplyRecord } from '../runtime/reply-record.ts'
import { coveredOf, fingerprintOf, isFingerprintOf } from '../runtime/request-fingerprint.ts'
import { claimKey, dropRecord, findRecord, keepRecord, type NewRecord, type RecordKey, type StoredRecord } from './idempotency-records.ts'
import type { Route } from './route.ts'

/** A reply, as it is stored. `originalRequest` is set when it is replayed. */
export type StoredReply = { status: number; body: string | null; location: string | null; originalRequest?: string }

export type IdempotentRequest = {
  /** What `keyOfCaller` returns. */
  key: string
  keyId: KeyId
  route: Route
  path: string
  query: Record<string, string>
  body: unknown
  requestId: string
}

const WAITERS_MAX = 5
/** Longer than any operation that calls other servers takes. */
const CALL_MAX_MS = 600_000
const CALL_POLL_MS = 100

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

/**
 * The key under which the record of a request is stored. All users of a publishable key share that key, so the key of a user contains the
 * user. It begins with a space, which no key does that a caller sends.
 */
export const keyOfCaller = (caller: Caller, key: string): string => (caller.kind === 'user' ? ` user:${caller.userId}:${key}` : key)

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

type Work = (ctx: Ctx, record?: ReplyRecord) => Promise<StoredReply>

/** Runs `work` once per key. Later requests with the key get the same reply. */
export async function runOnce(ctx: Ctx, request: IdempotentRequest, work: Work): Promise<StoredReply> {
  const covered = coveredOf(aboutOf(request), request.body)
  const record = { keyId: request.keyId, key: request.key, fingerprint: fingerprintOf(ctx, covered), requestId: request.requestId }
  const attempt: Attempt = { request, work, lock: `${request.keyId}:${request.key}`, covered, record }
  switch (request.route.records) {
    case undefined:
      return queued(attempt, () => runInTransaction(ctx, attempt))
    case 'with_append':
      return runWithAppend(ctx, attempt)
    case 'around_call':
      return queued(attempt, () => runAroundCall(ctx, attempt))
    default:
      return request.route.records satisfies never
  }
}

type Attempt = { request: IdempotentRequest; work: Work; lock: string; covered: string; record: RecordKey }

const waiters = new Map<string, number>()

/** Lets only a few requests with the same key wait for the first. */
async function queued({ lock }: Attempt, run: () => Promise<StoredReply>): Promise<StoredReply> {
  const ahead = waiters.get(lock) ?? 0
  // Each waiting request holds a database connection.
  if (ahead > WAITERS_MAX) throw inProgress()
  waiters.set(lock, ahead + 1)
  try {
    return await run()
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

/**
 * The effects and the record commit together. A refusal rolls the effects back, and its record is stored in a second transaction. A request
 * that takes the key in between has effects instead of this one, which gets its reply.
 */
async function runInTransaction(ctx: Ctx, attempt: Attempt): Promise<StoredReply> {
  const once = (work: Work) =>
    inTx(ctx, async (ctx) => {
      const known = await claimKey(ctx, attempt.lock, attempt.record)
      if (known) return replayOf(ctx, attempt, known)
      const reply = await work(ctx)
      // Another request has committed its record since this one read: the effects are rolled back, and the next round replays it.
      if (!(await keepRecord(ctx, newRecord(ctx, attempt, reply)))) throw new Conflict()
      return reply
    })
  return once(attempt.work).catch((error: unknown) => {
    if (error instanceof HandlerRefusal) return once(async () => error.reply)
    throw error
  })
}

/**
 * The statement that appends to the queue stores the record too, in a commit with other requests. Any refusal comes second to the reply of
 * an earlier request. It has no record, because only parameters are refused here, and they can be corrected under the same key.
 */
async function runWithAppend(ctx: Ctx, attempt: Attempt): Promise<StoredReply> {
  try {
    return await attempt.work(ctx, { ...attempt.record, about: aboutOf(attempt.request), expiresAt: expiryOf(ctx) })
  } catch (error) {
    const first = error instanceof AlreadyRecorded ? error.first : undefined
    const known = first ? recordOfAppend(first) : await findRecord(ctx, attempt.record)
    if (known) return replayOf(ctx, attempt, known)
    throw error
  }
}

/** The record of a request that was appended and is not in the queue yet. */
const recordOfAppend = ({ fingerprint, requestId }: RecordedRequest): StoredRecord => ({
  fingerprint,
  status: 204,
  body: null,
  is_sealed: false,
  location: null,
  request_id: requestId,
})

/**
 * For operations that wait for other servers: no transaction is open meanwhile, so that they hold no connection. The record says that the
 * request is running. After a crash it expires, and the request can be repeated.
 */
async function runAroundCall(ctx: Ctx, attempt: Attempt): Promise<StoredReply> {
  const known = await claimForCall(ctx, attempt)
  if (known) return replayOf(ctx, attempt, known)
  let reply: StoredReply
  try {
    reply = await attempt.work(ctx)
  } catch (error) {
    if (!(error instanceof HandlerRefusal)) {
      // If this fails too, the record expires.
      await dropRecord(ctx, attempt.record).catch(() => undefined)
      throw error
    }
    reply = error.reply
  }
  await keepRecord(ctx, newRecord(ctx, attempt, reply))
  return reply
}

/** Stores that the request is running. Returns the record of an earlier one, once that has its reply. */
async function claimForCall(ctx: Ctx, attempt: Attempt): Promise<StoredRecord | undefined> {
  const expiresAt = new Date(ctx.clock.now().getTime() + CALL_MAX_MS)
  const running = { ...attempt.record, status: null, body: null, isSealed: false, location: null, expiresAt }
  for (let waitedMs = 0; ; waitedMs += CALL_POLL_MS) {
    const known = await inTx(ctx, async (ctx) => {
      const known = await claimKey(ctx, attempt.lock, attempt.record)
      if (!known && !(await keepRecord(ctx, running))) throw new Conflict()
      return known
    })
    if (known?.status !== null || !isSameRequest(ctx, attempt, known)) return known
    if (waitedMs >= ctx.config.IDEMPOTENCY_WAIT_MS) throw inProgress()
    await ctx.clock.sleep(CALL_POLL_MS)
  }
}

function replayOf(ctx: Pick<Ctx, 'secrets'>, attempt: Attempt, known: StoredRecord): StoredReply {
  if (!isSameRequest(ctx, attempt, known)) throw differentRequest()
  if (known.status === null) throw inProgress()
  const body = known.body !== null && known.is_sealed ? ctx.secrets.open(known.body, attempt.lock) : known.body
  return { status: known.status, body, location: known.location, originalRequest: known.request_id }
}

function newRecord(ctx: Ctx | InTx<Ctx>, { request, record, lock }: Attempt, { status, body, location }: StoredReply): NewRecord {
  const isSealed = request.route.sensitive === true && body !== null
  return { ...record, status, body: isSealed ? ctx.secrets.seal(body, lock) : body, isSealed, location, expiresAt: expiryOf(ctx) }
}

const expiryOf = ({ clock, config }: Pick<Ctx, 'clock' | 'config'>) => new Date(clock.now().getTime() + config.IDEMPOTENCY_TTL_H * HOUR_MS)

/** Method, path and query. */
function aboutOf({ route, path, query }: Pick<IdempotentRequest, 'route' | 'path' | 'query'>): string {
  const sortedQuery = Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1))
  return `${route.method}\n${path}\n${JSON.stringify(sortedQuery)}`
}

/** Is a record that of the same request? */
const isSameRequest = (ctx: Pick<Ctx, 'secrets'>, { covered, record }: Attempt, { fingerprint }: StoredRecord): boolean =>
  fingerprint === record.fingerprint || isFingerprintOf(ctx, fingerprint, covered)
