/**
 * What the modules store about users, for exports and for the receipts of erasures. A store is read in pages, each a statement of its own,
 * so that an export needs neither much memory nor a long transaction.
 */
import { Type } from 'typebox'
import type { ProjectId, UserId } from '../../lib/ids.ts'
import { Count } from '../../lib/shapes.ts'
import { type Db, join, raw, type Sql, sql } from './db.ts'

const PAGE_ROWS = 500

export type Row = Record<string, unknown>

/** What statements need of a context. */
type StoreCtx = { db: Pick<Db, 'many' | 'value'>; projectId: ProjectId }

/** What a module stores about users in one table. */
export type UserStore = {
  /** Its member in exports and receipts. */
  name: string
  table: string
  /** The rows of these users, page by page. */
  pages(ctx: StoreCtx, ids: UserId[]): AsyncGenerator<Row[]>
  count(ctx: StoreCtx, ids: UserId[]): Promise<number>
}

type Key = { column: Sql; type: 'bigint' | 'integer' | 'text' | 'timestamptz' }

type Reading = {
  /** The table, with joins. */
  from: Sql
  /** The rows of the project. */
  where: Sql
  /** The column with the id of the user. */
  user: Sql
  /** The columns of an export. */
  select: Sql
  /** What orders the rows and tells them apart. */
  key: [Key, ...Key[]]
  /** Fewer where rows are large. */
  pageRows?: number
}

const KeyedRow = Type.Unsafe<Row & { page_key: string[] }>({ type: 'object' })

/** Declares a store of a table. `ids` are the users whose rows are read, for what a table has of them without their id. */
export const userStore = (name: string, table: string, readingOf: (ctx: StoreCtx, ids: UserId[]) => Reading): UserStore => ({
  name,
  table,
  pages: (ctx, ids) => pagesOf(ctx, ids, readingOf(ctx, ids)),
  count: (ctx, ids) => {
    const { from, where, user } = readingOf(ctx, ids)
    return ctx.db.value(Count, sql`select count(*) as count from ${from} where ${where} and ${user} = any(${ids}::bigint[])`)
  },
})

async function* pagesOf(ctx: StoreCtx, ids: UserId[], reading: Reading): AsyncGenerator<Row[]> {
  const { from, where, user, select, key, pageRows = PAGE_ROWS } = reading
  const columns = join(
    key.map(({ column }) => column),
    ', ',
  )
  const texts = join(
    key.map(({ column }) => sql`${column}::text`),
    ', ',
  )
  let after: string[] | undefined
  while (true) {
    const rows: (Row & { page_key: string[] })[] = await ctx.db.many(
      KeyedRow,
      sql`select ${select}, array[${texts}] as page_key from ${from}
          where ${where} and ${user} = any(${ids}::bigint[]) and ${behind(key, columns, after)}
          order by ${columns} limit ${pageRows}`,
    )
    if (rows.length > 0) yield rows.map(({ page_key: _, ...row }) => row)
    after = rows.at(-1)?.page_key
    if (rows.length < pageRows || after === undefined) return
  }
}

const behind = (key: Key[], columns: Sql, after: string[] | undefined): Sql =>
  after === undefined
    ? raw('true')
    : sql`(${columns}) > (${join(
        key.map(({ type }, at) => sql`${after[at]}::text::${raw(type)}`),
        ', ',
      )})`
