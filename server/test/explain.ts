/** What statements read, counted by PostgreSQL while it runs them: never in time. */
import { type TSchema, Type } from 'typebox'
import { type Database, type Db, raw, type Sql, sql } from '../src/infra/postgres/db.ts'
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

const rowsRead = (node: Node): number =>
  (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0)) * node['Actual Loops'] +
  (node.Plans ?? []).reduce((sum, plan) => sum + rowsRead(plan), 0)

const planOf = (node: Node, depth = 0): string =>
  [
    `${'  '.repeat(depth)}${node['Node Type']} ${node['Index Name'] ?? node['Relation Name'] ?? ''}: ${node['Actual Rows']} rows × ${node['Actual Loops']}, ${node['Shared Hit Blocks'] + node['Shared Read Blocks']} pages`,
    ...(node.Plans ?? []).map((inner) => planOf(inner, depth + 1)),
  ].join('\n')

/** A context whose statements are explained while they run. They return no rows. */
export function explaining<C extends Ctx>(ctx: C, readings: Reading[]): C {
  const explain = async (statement: Sql) => {
    const row = await ctx.db.one(Explained, sql`explain (analyze, buffers, format json) ${statement}`)
    const { Plan } = row['QUERY PLAN'][0]
    readings.push({
      rows: rowsRead(Plan),
      pages: Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'],
      claimed: Plan['Actual Rows'],
      plan: planOf(Plan),
    })
    return []
  }
  const db: Record<string, unknown> = {
    ...ctx.db,
    many: (_: TSchema, statement: Sql) => explain(statement),
    first: async (_: TSchema, statement: Sql) => (await explain(statement))[0],
    value: (_: TSchema, statement: Sql) => explain(statement).then(() => 0),
    run: (statement: Sql) => explain(statement).then(() => 0),
    within: () => db,
    transaction: (work: (inner: unknown) => unknown) => work(db),
  }
  return { ...ctx, db: db as unknown as Db }
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

/** What PostgreSQL knew of a table before it was filled. */
export const ANALYSED = ['an empty table', 'a full table'] as const
type Analysed = (typeof ANALYSED)[number]

/** Replaces the rows of tables, without checking what they refer to. */
export async function fillTables(db: Database, analysed: Analysed, tables: Record<string, () => Sql>): Promise<void> {
  const names = Object.keys(tables).map(raw)
  const analyse = async () => {
    for (const name of names) await db.run(sql`vacuum analyze ${name}`)
  }
  for (const name of names) await db.run(sql`truncate ${name} cascade`)
  await analyse()
  await db.transaction(async (db) => {
    await db.run(sql`set local session_replication_role = replica`)
    for (const rows of Object.values(tables)) await db.run(rows())
  })
  if (analysed === 'a full table') await analyse()
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
