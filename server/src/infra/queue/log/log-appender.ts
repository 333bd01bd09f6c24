/** Appending accepted requests to a log outside of the database, also while the database is away. */
import { Flag } from '../../../lib/shapes.ts'
import { sql } from '../../postgres/db.ts'
import type { AcceptedLog } from '../../runtime/accepted-log.ts'
import type { Ctx } from '../../runtime/ctx.ts'
import { orWhileAway } from '../../runtime/or-while-away.ts'
import { AlreadyRecorded, type ReplyRecord } from '../../runtime/reply-record.ts'
import { sha256 } from '../../runtime/secrets.ts'
import { type AcceptedRequest, type Appender, tooBusy, WAITING_BYTES_MAX } from '../append.ts'
import { fromBytes, toBytes } from './log-entry.ts'

/** Appends to a log. The queue limits what is moved from it; the log itself limits what waits in it. */
export function createLogAppender(ctx: Pick<Ctx, 'db' | 'clock'>, log: AcceptedLog): Appender {
  let waitingBytes = 0
  return {
    requireRoom: () => Promise.resolve(),
    async append(request) {
      if (waitingBytes > WAITING_BYTES_MAX) throw tooBusy()
      const size = request.body.length
      waitingBytes += size
      try {
        if (request.record) await refuseRecorded(ctx, request.record)
        const { position, isRepeat } = await log.append(keyOf(request), toBytes(request))
        if (isRepeat && request.record) await refuseRepeat(log, position, request)
      } finally {
        waitingBytes -= size
      }
    },
  }
}

/** Of requests with one Idempotency-Key, the log stores the first. Without one, only what is sent to the log again is a repeat. */
const keyOf = ({ record, requestId }: AcceptedRequest): string => (record ? `${record.keyId}.${sha256(record.key)}` : requestId)

/** While the database is away, a request whose record is there is appended again; it is not moved to the queue then. */
async function refuseRecorded(ctx: Pick<Ctx, 'db' | 'clock'>, { keyId, key }: ReplyRecord): Promise<void> {
  const isRecorded = () =>
    ctx.db.value(
      Flag,
      sql`select exists (select 1 from idempotency_records
                         where key_id = ${keyId} and idempotency_key = ${key} and expires_at > ${ctx.clock.now()}) as found`,
    )
  if (await orWhileAway(ctx, isRecorded, () => false)) throw new AlreadyRecorded()
}

/** Throws the request that was first, unless it is this one, which was sent to the log twice. */
async function refuseRepeat(log: AcceptedLog, position: number, { requestId }: AcceptedRequest): Promise<void> {
  const stored = await log.read(position)
  // Moved to the queue, and its record with it.
  if (!stored) throw new AlreadyRecorded()
  const first = fromBytes(stored.bytes)
  if (first.requestId !== requestId) throw new AlreadyRecorded({ fingerprint: first.record?.fingerprint ?? '', requestId: first.requestId })
}
