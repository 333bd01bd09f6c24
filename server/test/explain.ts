/** What statements read, counted by PostgreSQL while it runs them: never in time. */
import pg from 'pg'
import { type TSchema, Type } from 'typebox'
import { type Database, type Db, raw, type Sql, sql, unprepared } from '../src/infra/postgres/db.ts'
import { settingsOf, type TransactionLimits } from '../src/infra/postgres/limits.ts'
import { unnamed } from '../src/infra/postgres/sql.ts'
import { type Ctx, type InTx, inTx } from '../src/infra/runtime/ctx.ts'

type Node = {
  'Node Type': string
  'Index Name'?: string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Join Filter'?: number
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: Node[]
}
/** `plan` shows which part read what. */
export type Reading = { rows: number; pages: number; claimed: number; plan: string }

const Explained = Type.Object({ 'QUERY PLAN': Type.Unsafe<[{ Plan: Node }]>({}) })

/** The rows that scans of tables read, and those that joins compared and left out. */
const rowsRead = (node: Node): number =>
  ((node['Relation Name'] ? node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) : 0) + (node['Rows Removed by Join Filter'] ?? 0)) *
    node['Actual Loops'] +
  (node.Plans ?? []).reduce((sum, plan) => sum + rowsRead(plan), 0)

const planOf = (node: Node, depth = 0): string =>
  [
    `${'  '.repeat(depth)}${node['Node Type']} ${node['Index Name'] ?? node['Relation Name'] ?? ''}: ${node['Actual Rows']} rows × ${node['Actual Loops']}, ${node['Shared Hit Blocks'] + node['Shared Read Blocks']} pages`,
    ...(node.Plans ?? []).map((inner) => planOf(inner, depth + 1)),
  ].join('\n')

/** PostgreSQL plans a prepared statement for the values of a run, and after a few runs once for any values. */
export const PLANS = ['these values', 'any values'] as const
type PlannedFor = (typeof PLANS)[number]

let explainedCount = 0

async function explained(db: Db, statement: Sql, plannedFor: PlannedFor) {
  const explain = raw('explain (analyze, buffers, format json)')
  if (plannedFor === 'these values') return db.one(Explained, sql`${explain} ${statement}`)
  // It takes the values of such a statement only as part of the text.
  const { text, values } = unnamed(statement)
  const name = `explained_${explainedCount++}`
  const literals = values.map(literalOf).join(', ')
  await db.run(raw('set local plan_cache_mode = force_generic_plan'))
  await db.run(unprepared(raw(`prepare ${name} as ${text}`)))
  const row = await db.one(Explained, unprepared(sql`${explain} execute ${raw(literals ? `${name} (${literals})` : name)}`))
  await db.run(unprepared(raw(`deallocate ${name}`)))
  return row
}

const literalOf = (value: unknown): string => (value === null ? 'null' : pg.escapeLiteral(textOf(value)))

function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return `{${value.map((part) => (part === null ? 'null' : JSON.stringify(textOf(part)))).join(',')}}`
  return String(value)
}

/** A context whose statements are explained while they run. They return no rows. */
export function explaining<C extends Ctx>(ctx: C, readings: Reading[], plannedFor: PlannedFor = 'any values'): C {
  const explain = async (statement: Sql, settings: [name: string, value: string][]) => {
    for (const [name, value] of settings) await ctx.db.run(raw(`set local ${name} = '${value}'`))
    const row = await explained(ctx.db, statement, plannedFor)
    for (const [name] of settings) await ctx.db.run(raw(`set local ${name} to default`))
    const { Plan } = row['QUERY PLAN'][0]
    readings.push({
      rows: rowsRead(Plan),
      pages: Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'],
      claimed: Plan['Actual Rows'],
      plan: planOf(Plan),
    })
    return []
  }
  const dbWith = (limits: TransactionLimits): Record<string, unknown> => {
    const settings = settingsOf(limits)
    const db: Record<string, unknown> = {
      ...ctx.db,
      many: (_: TSchema, statement: Sql) => explain(statement, settings),
      first: async (_: TSchema, statement: Sql) => (await explain(statement, settings))[0],
      value: (_: TSchema, statement: Sql) => explain(statement, settings).then(() => 0),
      run: (statement: Sql) => explain(statement, settings).then(() => 0),
      within: dbWith,
      transaction: (work: (inner: unknown) => unknown, inner = limits) => work(inner === limits ? db : dbWith(inner)),
    }
    return db
  }
  return { ...ctx, db: dbWith({}) as unknown as Db }
}

/** Statistics change only when the test says so, and no other snapshot keeps deleted rows in the indexes. */
export const withoutAutovacuum = (db: Db) =>
  db.run(
    sql`do $$ declare t regclass; begin
          for t in select c.oid from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace loop
            execute format('alter table %s set (autovacuum_enabled = false)', t);
          end loop;
        end $$`,
  )

/** Replaces the rows of tables, without checking what they refer to, and analyses them. */
export async function fillTables(db: Database, tables: Record<string, () => Sql>): Promise<void> {
  const names = Object.keys(tables).map(raw)
  for (const name of names) await db.run(sql`truncate ${name} cascade`)
  await db.transaction(async (db) => {
    await db.run(sql`set local session_replication_role = replica`)
    for (const rows of Object.values(tables)) await db.run(rows())
  })
  for (const name of names) await db.run(sql`vacuum analyze ${name}`)
}

type Change = (table: Sql) => Sql

/** The pages and rows of a table, and of its indexes. */
const sizes = (ofTable: [pages: string, rows: string], ofIndexes: [pages: string, rows: string]): Change[] => [
  (table) => sql`update pg_class set relpages = ${raw(ofTable[0])}, reltuples = ${raw(ofTable[1])} where oid = ${table}`,
  (table) =>
    sql`update pg_class set relpages = ${raw(ofIndexes[0])}, reltuples = ${raw(ofIndexes[1])}
        where oid in (select indexrelid from pg_index where indrelid = ${table})`,
]

/** The share of nulls in columns, and the number of their different values: as a share of the rows if negative. A setting of a column decides. */
const values = (nulls: number, distinct: number, columns: Sql): Change => {
  return (table) =>
    sql`update pg_statistic s
        set stanullfrac = ${nulls}, stakind1 = 0, stakind2 = 0, stakind3 = 0, stakind4 = 0, stakind5 = 0,
            stadistinct = coalesce((select option_value::real from pg_options_to_table(a.attoptions) where option_name = 'n_distinct'), ${distinct}::real)
        from pg_attribute a
        where s.starelid = ${table} and a.attrelid = s.starelid and a.attnum = s.staattnum and ${columns}`
}

const nothing: Change = (table) => sql`delete from pg_statistic where starelid = ${table}`

/**
 * What PostgreSQL believes of tables that are full now: what it found when it looked last, which may be long ago. When it finds a table
 * empty, it makes no new statistics, so that those of other rows stay.
 */
export const BELIEFS = {
  'what is true': [],
  'that nobody has looked': [...sizes(['0', '-1'], ['1', '0']), nothing],
  'that they are empty': [...sizes(['0', '0'], ['1', '0']), nothing],
  'that they were emptied': sizes(['0', '0'], ['relpages', '0']),
  'that each project has a row': [values(0, -1, sql`a.attname = 'project_id'`)],
  'that all values differ': [values(0, -1, sql`true`)],
  'that columns are null': [values(1, 0, sql`not a.attnotnull`)],
} satisfies Record<string, Change[]>

/** What only statements withstand that are run as claims: any index seems to lead to a row. */
export const WORSE_BELIEFS = {
  'that they were emptied and kept their pages': sizes(['relpages', '0'], ['relpages', '0']),
  'that all values are the same': [values(0, 1, sql`true`)],
} satisfies Record<string, Change[]>

/** Has PostgreSQL believe something of these tables until the end of the transaction. */
export async function believe(db: Db, belief: readonly Change[], tables: string[]): Promise<void> {
  for (const table of tables) for (const change of belief) await db.run(change(sql`${table}::regclass`))
}

/** Runs `work` in a transaction, and undoes what it wrote. */
export async function rolledBack<C extends Ctx>(ctx: C, work: (ctx: InTx<C>) => Promise<unknown>): Promise<void> {
  const undone = new Error('It is undone.')
  await inTx(ctx, async (ctx) => {
    await work(ctx)
    throw undone
  }).catch((error) => {
    if (error !== undone) throw error
  })
}
