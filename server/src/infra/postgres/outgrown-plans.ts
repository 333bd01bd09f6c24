/** Discards the plans of connections when the tables have outgrown them. Decision 6 says why. */
import type pg from 'pg'

export type PlanLimits = {
  /** Older plans are discarded. */
  maxAgeMs: number
  /** How often the sizes of the tables are looked at. */
  lookEveryMs: number
}

/** Planning costs as much as running a small statement, or several times as much. */
export const PLANS: PlanLimits = { maxAgeMs: 60_000, lookEveryMs: 5000 }
/** The sizes of tables are not known there. */
export const PLANS_OF_REPLICA: PlanLimits = { maxAgeMs: 5000, lookEveryMs: Number.POSITIVE_INFINITY }

/** Of one with fewer rows, every plan that follows an index is good. */
const ROWS_MIN = 1000
/** Plans are made again when a table has so many times the rows that it had. */
const GROWTH = 2

/**
 * Rows of each table, with those that are deleted and still take room. Counted by PostgreSQL as they are written, so that no table is opened
 * and no lock is waited for. A standby counts none.
 */
const SIZES = {
  name: 'sizes of tables',
  text: `select oid::int4 as table, (pg_stat_get_live_tuples(oid) + pg_stat_get_dead_tuples(oid))::float8 as rows
         from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace`,
  rowMode: 'array',
} as const

/**
 * Watches the tables for all connections of a pool. `prepare` is called with a connection before it is used: it looks at the sizes when that is due,
 * and discards the plans of the connection if they are too old or a table has grown too much since. Throws what the connection throws.
 */
export function watchPlans({ maxAgeMs, lookEveryMs }: PlanLimits) {
  const plannedSince = new WeakMap<object, number>()
  const smallest = new Map<number, number>()
  let lookedAt = Number.NEGATIVE_INFINITY
  let grownAt = Number.NEGATIVE_INFINITY

  const look = async (client: pg.ClientBase) => {
    const { rows } = await client.query<[number, number]>(SIZES)
    for (const [table, count] of rows) {
      const rows = Math.max(count, ROWS_MIN)
      const before = smallest.get(table) ?? rows
      if (rows >= before * GROWTH) grownAt = performance.now()
      if (rows < before || rows >= before * GROWTH || !smallest.has(table)) smallest.set(table, rows)
    }
  }
  return {
    /** A connection was opened. */
    opened: (client: object) => void plannedSince.set(client, performance.now()),
    async prepare(client: pg.ClientBase): Promise<void> {
      if (performance.now() - lookedAt >= lookEveryMs) {
        lookedAt = performance.now()
        await look(client)
      }
      const since = plannedSince.get(client) ?? 0
      if (since > grownAt && performance.now() - since < maxAgeMs) return
      await client.query('discard plans')
      plannedSince.set(client, performance.now())
    },
  }
}
