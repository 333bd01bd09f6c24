/** The records of Idempotency-Keys: the statements on their table. A record without a status belongs to a request that is running. */
import { type Static, Type } from 'typebox'
import type { KeyId } from '../../lib/ids.ts'
import { Flag, Nullable } from '../../lib/shapes.ts'
import { sql } from '../postgres/db.ts'
import type { Ctx, InTx } from '../runtime/ctx.ts'

/** What a record says about the request that it belongs to. */
export type RecordKey = { keyId: KeyId; key: string; fingerprint: string; requestId: string }

export type NewRecord = RecordKey & {
  /** Null while the request is running. */
  status: number | null
  body: string | null
  isSealed: boolean
  location: string | null
  expiresAt: Date
}

const Stored = Type.Object({
  fingerprint: Type.String(),
  status: Nullable(Type.Integer()),
  body: Nullable(Type.String()),
  is_sealed: Type.Boolean(),
  location: Nullable(Type.String()),
  request_id: Type.String(),
})
export type StoredRecord = Static<typeof Stored>

const Claimed = Type.Object({ is_locked: Flag, record: Nullable(Stored) })

const columns = sql`fingerprint, status, body, is_sealed, location, request_id`

/**
 * Locks the key for this transaction and returns its record, in one statement unless another transaction has the lock. The snapshot of that
 * statement is older than the lock, so a record that was committed in between is missing here; then `keepRecord` stores nothing.
 */
export async function claimKey(ctx: InTx<Ctx>, lock: string, record: RecordKey): Promise<StoredRecord | undefined> {
  const claimed = await ctx.db.one(
    Claimed,
    sql`select pg_try_advisory_xact_lock(hashtextextended(${lock}, 0)) as is_locked,
               (select row_to_json(r) from (select ${columns} from idempotency_records
                where key_id = ${record.keyId} and idempotency_key = ${record.key} and expires_at > ${ctx.clock.now()}) r) as record`,
  )
  if (claimed.is_locked) return claimed.record ?? undefined
  // For PostgreSQL, 0 is no limit.
  const waitMs = Math.max(1, ctx.config.IDEMPOTENCY_WAIT_MS)
  await ctx.db.run(
    sql`select set_config('lock_timeout', ${`${waitMs}ms`}, true), pg_advisory_xact_lock(hashtextextended(${lock}, 0)),
               set_config('lock_timeout', '0', true)`,
  )
  return findRecord(ctx, record)
}

/** The record of a key. */
export const findRecord = (ctx: Ctx | InTx<Ctx>, { keyId, key }: RecordKey): Promise<StoredRecord | undefined> =>
  ctx.db.first(
    Stored,
    sql`select ${columns} from idempotency_records where key_id = ${keyId} and idempotency_key = ${key} and expires_at > ${ctx.clock.now()}`,
  )

/** Stores a record in place of one that has expired, or of that of the same request while it was running. False if there is another. */
export const keepRecord = async (ctx: Ctx | InTx<Ctx>, record: NewRecord): Promise<boolean> =>
  (await ctx.db.run(
    sql`insert into idempotency_records as r (key_id, idempotency_key, fingerprint, status, body, is_sealed, location, request_id, expires_at)
        values (${record.keyId}, ${record.key}, ${record.fingerprint}, ${record.status}, ${record.body}, ${record.isSealed}, ${record.location},
                ${record.requestId}, ${record.expiresAt})
        on conflict (key_id, idempotency_key) do update
        set fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body, is_sealed = excluded.is_sealed,
            location = excluded.location, request_id = excluded.request_id, expires_at = excluded.expires_at
        where r.expires_at <= ${ctx.clock.now()} or r.request_id = excluded.request_id`,
  )) === 1

/** Deletes the record of a request that is no longer running. */
export const dropRecord = (ctx: Ctx, { keyId, key, requestId }: RecordKey) =>
  ctx.db.run(sql`delete from idempotency_records where key_id = ${keyId} and idempotency_key = ${key} and request_id = ${requestId}`)

/** Deletes records of these keys, at most `limit`. Returns how many. */
export const deleteRecordsOf = (ctx: InTx<Ctx>, keyIds: KeyId[], limit: number) =>
  ctx.db.run(
    sql`delete from idempotency_records
        where ctid = any(array(select ctid from idempotency_records where key_id = any(${keyIds}::bigint[]) limit ${limit}))`,
  )

const PURGE_BATCH = 10_000

/** Deletes expired records. Returns how many. */
export const purgeIdempotencyRecords = (ctx: Ctx): Promise<number> =>
  ctx.db.run(
    sql`delete from idempotency_records
        where (key_id, idempotency_key) in
          (select key_id, idempotency_key from idempotency_records where expires_at <= ${ctx.clock.now()} limit ${PURGE_BATCH})`,
  )
