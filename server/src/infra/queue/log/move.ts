/**
 * Moves accepted requests from a log to the queue, in their order. The entries of the queue and the position in the log commit together:
 * after a crash or a repeated reading, each request is in the queue once. One process at a time moves.
 */
import { Type } from 'typebox'
import { ApiError } from '../../../lib/errors.ts'
import { storableText } from '../../../lib/text.ts'
import { parseJson } from '../../http/body.ts'
import { isConflict, sql } from '../../postgres/db.ts'
import type { AcceptedLog, LogExtent, StoredEntry } from '../../runtime/accepted-log.ts'
import { afterCommit, type Ctx, type InTx, inTx, type JobName } from '../../runtime/ctx.ts'
import type { ReplyRecord } from '../../runtime/reply-record.ts'
import { coveredOf, isFingerprintOf } from '../../runtime/request-fingerprint.ts'
import { type AcceptedRequest, appendWithRecords } from '../append.ts'
import { hasRoom } from '../backlog.ts'
import { type Job, job } from '../jobs.ts'
import { APPLY, parkedWith, parkItems } from '../queue.ts'
import { fromBytes } from './log-entry.ts'
import { movedUpTo } from './moved-up-to.ts'
import { findPosition, type Position, storeComplete, storePosition, takeLease } from './position.ts'

/** The job that moves accepted requests. It is woken by the log. */
export const MOVE: JobName = { name: 'ingest.move' }

/**
 * How often an empty log is looked at, and the lease of another process. Timers that depend on what users do are at most so late; with the
 * lease, it keeps the time until a process that died is replaced under a second.
 */
const LOOK_EVERY_MS = 250
const BATCH = { entries: 1000, bytes: 8_388_608 }

/** The job of a process with a log. */
export const moveJob = (log: AcceptedLog): Job => job({ ...MOVE, idleMs: LOOK_EVERY_MS, run: (ctx) => moveNext(ctx, log) })

/**
 * Moves the next entries. Returns the number of entries; 0 if there are none, another process is moving them, or the queue is full; and 1 when
 * the caller should try again at once.
 */
export async function moveNext(ctx: Ctx, log: AcceptedLog): Promise<number> {
  const { id } = log
  const lease = await takeLease(ctx, id, log.mover)
  if (!lease || !(await hasRoom(ctx))) return 0
  const at = new Date(ctx.clock.now().getTime() - ctx.clock.skewMs)
  const extent = await log.extent()
  if (log.id !== id) return movesAnother(ctx, log, id)
  const from = await movedUpTo(log, lease, extent)
  if (extent.last === from && from <= lease.position) return movedAll(ctx, log, lease, extent, at)
  if (from > lease.position) ctx.log.error({ log: id, from: lease.position + 1, to: from }, 'accepted requests were deleted from the log')
  if (from < lease.position) ctx.log.error({ log: id, from, to: lease.position }, FALLEN_BACK)
  const entries = from < extent.last ? await log.readAfter(from, BATCH) : []
  if (log.id !== id) return movesAnother(ctx, log, id)
  const last = entries.at(-1)
  if (!last && from <= lease.position) return 0
  const to = last?.position ?? from
  const requests = entries.flatMap((entry) => readable(ctx, entry))
  // What is still in the log was accepted later, but for what another process was about to append.
  const completeTo = new Date((requests.at(-1)?.receivedAt ?? lease.complete_to).getTime() - ctx.clock.skewMs)
  try {
    await inTx(ctx, async (ctx) => {
      await store(ctx, requests)
      await storePosition(ctx, id, lease, { to, storedAt: last?.storedAt ?? lease.stored_at, completeTo })
      ctx.wake(APPLY)
    })
  } catch (error) {
    if (isConflict(error)) return 1
    throw error
  }
  await forget(ctx, log, id, to)
  return Math.max(1, entries.length)
}

const FALLEN_BACK =
  'the log of accepted requests has lost its last entries, which were moved before; requests that it lost before they were moved are lost'

/** Everything that was accepted before an instant was moved. What a log that has lost its end still holds is deleted again. */
async function movedAll(ctx: Ctx, log: AcceptedLog, { position }: Position, { first, last }: LogExtent, at: Date): Promise<0> {
  const { id } = log
  await storeComplete(ctx, id, position, at)
  if (first <= last && last < position) await forget(ctx, log, id, last)
  return 0
}

/** The log was created again: what is in it is moved from its beginning. */
function movesAnother(ctx: Ctx, log: AcceptedLog, former: string): 1 {
  ctx.log.error(
    { log: log.id, former },
    'the log of accepted requests was created again; requests that were waiting in the former one are lost',
  )
  return 1
}

/** If this fails, the next one deletes these too. */
const forget = (ctx: Ctx, log: AcceptedLog, id: string, upTo: number) =>
  log.forget(id, upTo).catch((error) => ctx.log.warn({ err: error }, 'moved requests could not be deleted from the log'))

/** Only this server appends to a log. What is not from it, such as a test by hand, belongs to no project and cannot be parked. */
function readable(ctx: Ctx, { position, bytes }: StoredEntry): AcceptedRequest[] {
  try {
    return [fromBytes(bytes)]
  } catch (error) {
    ctx.log.error({ err: error, position }, 'an entry of the log of accepted requests cannot be read; skipped')
    return []
  }
}

/** Puts requests in the queue, except those whose Idempotency-Key has a record. */
async function store(ctx: InTx<Ctx>, requests: AcceptedRequest[]): Promise<void> {
  if (requests.length === 0) return
  const appended = await appendWithRecords(ctx.db, requests)
  if (appended === 'all') return
  const left = requests.filter(({ requestId }) => !appended.has(requestId))
  for (const request of left) if (request.record) await parkDifferent(ctx, request, request.record)
}

const Fingerprint = Type.Object({ fingerprint: Type.String() })

/**
 * The caller of a repeated request has its reply. One that differs was accepted while that could not be known: its items are parked, and so are
 * those of one that an earlier release appended, if its fingerprint has another key or none.
 */
async function parkDifferent(
  ctx: InTx<Ctx>,
  { projectId, kind, userId, requestId, receivedAt, body }: AcceptedRequest,
  record: ReplyRecord,
) {
  const first = await ctx.db.first(
    Fingerprint,
    sql`select fingerprint from idempotency_records where key_id = ${record.keyId} and idempotency_key = ${record.key}`,
  )
  if (first === undefined || first.fingerprint === record.fingerprint) return
  const items = itemsOf(body)
  if (items && record.about !== undefined && isFingerprintOf(ctx, first.fingerprint, coveredOf(record.about, items))) return
  const source = {
    kind,
    request_id: requestId,
    received_at: receivedAt,
    reason: 'The Idempotency-Key was first used with a different request.',
  }
  const parked = items?.map((item) => ({ ...source, item: parkedWith(item, userId) })) ?? [{ ...source, item: storableText(String(body)) }]
  afterCommit(ctx, () => ctx.metrics.eventsIngested('parked', parked.length))
  await parkItems(ctx, projectId, parked)
}

/** The items as the API read them from the same bytes; null if this release reads no array in them. Thrown, that would hold up all that comes after it. */
function itemsOf(body: Buffer): unknown[] | null {
  try {
    const items = parseJson(body)
    return Array.isArray(items) ? items : null
  } catch {
    return null
  }
}

const AGAIN_MS = 50
const ALL_MAX_MS = 5000
const RETRY_AFTER_S = 5

/** Resolves when everything that was accepted so far is in the queue. Throws 503 if that takes too long. */
export async function moveAll(ctx: Ctx): Promise<void> {
  const { acceptedLog: log } = ctx
  if (!log) return
  const startedAt = performance.now()
  const { last } = await log.extent()
  // The position is read first: what is appended and moved meanwhile must not look lost.
  while ((await movedUpTo(log, await findPosition(ctx, log.id), await log.extent())) < last) {
    if ((await moveNext(ctx, log)) > 0) continue
    if (performance.now() - startedAt > ALL_MAX_MS) throw behind()
    await ctx.clock.sleep(AGAIN_MS)
  }
}

const behind = () =>
  new ApiError('internal_error', `Accepted requests are still being stored. Retry after ${RETRY_AFTER_S} seconds.`, {
    status: 503,
    headers: { 'retry-after': String(RETRY_AFTER_S) },
  })
