import { Type } from 'typebox'
import { join, raw, sql } from '../../infra/postgres/db.ts'
import type { Ctx, InTx } from '../../infra/runtime/ctx.ts'

/** A month in UTC: `from` is included, `to` is not. */
export type Month = { name: string; from: string; to: string }

const columns = sql`project_id, user_id, entrance_id, journey_id, step_id, version, visit, depth, entered_at, arrived_at, ended_at, outcome,
  reason, key, cause, event, answers, trail`

const PartitionRow = Type.Object({ name: Type.String() })

/** The names of the months that exist. */
export const listMonths = async (ctx: Ctx): Promise<Set<string>> => {
  const rows = await ctx.db.many(
    PartitionRow,
    sql`select c.relname::text as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'journey_past'::regclass and c.relname <> 'journey_past_rest'`,
  )
  return new Set(rows.map(({ name }) => name))
}

/** Locks the months, so that two processes do not create the same one. */
export const lockMonths = (ctx: InTx<Ctx>) => ctx.db.run(sql`select pg_advisory_xact_lock(hashtextextended('journey_past months', 0))`)

/** Limits the wait for a lock: while a statement waits for an exclusive lock, all later ones wait behind it. */
export const limitLockWait = (ctx: InTx<Ctx>, ms: number) => ctx.db.run(sql`select set_config('lock_timeout', ${`${ms}ms`}, true)`)

/**
 * Creates the partition of a month, and moves there the entrances that ended in this month before the partition existed. Its name and
 * bounds contain only digits, so they need no quoting.
 */
export const createMonth = async (ctx: InTx<Ctx>, { name, from, to }: Month): Promise<void> => {
  await ctx.db.run(sql`create table ${raw(name)} (like journey_past including all)`)
  await ctx.db.run(
    sql`with moved as (
          delete from journey_past_rest where ended_at >= ${from}::timestamptz and ended_at < ${to}::timestamptz returning ${columns}
        )
        insert into ${raw(name)} (${columns}) select ${columns} from moved`,
  )
  await ctx.db.run(sql`alter table journey_past attach partition ${raw(name)} for values from (${raw(`'${from}'`)}) to (${raw(`'${to}'`)})`)
}

/** Their names come from the database, so they need no quoting. */
export const dropMonths = (ctx: InTx<Ctx>, names: string[]) => ctx.db.run(sql`drop table if exists ${join(names.map(raw), ', ')}`)

export const deleteRest = (ctx: Ctx, before: Date) => ctx.db.run(sql`delete from journey_past_rest where ended_at < ${before}`)
