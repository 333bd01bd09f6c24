/**
 * The paging of every list endpoint (D-PAGE-1 to D-PAGE-3): reads the parameters, builds the statement and makes the cursors.
 * A module declares what can be sorted and searched.
 */
import type { TSchema } from 'typebox'
import { type Cursor, decodeCursor, type Position } from '../../lib/cursor.ts'
import { type Fault, fault } from '../../lib/errors.ts'
import { booleanOf, NO_ROW_BYTES, type RowBytes, valueIn } from '../../lib/row-bytes.ts'
import { lengthOf, trimWhiteSpace } from '../../lib/text.ts'
import { join, raw, type Sql, sql, unprepared } from '../postgres/db.ts'
import type { Ctx } from '../runtime/ctx.ts'
import type { Listing, PageOf, PageRequest, Sort } from './listing.ts'
import { cursorsOf, positionInBytes, positionOf } from './page-cursors.ts'
import { withBehind, withoutBehind } from './page-rows.ts'
import { searchIn } from './search.ts'

export { type Listing, listing, type PageOf, type PageRequest } from './listing.ts'

export const LIMIT_DEFAULT = 25
const LIMIT_MAX = 100
const Q_LENGTH_MAX = 255

export const PAGING_PARAMETERS = ['cursor', 'page', 'limit', 'sort', 'direction', 'q'] as const

/** Reads the paging parameters. Returns faults instead of throwing, so that they are reported with those of other parameters. */
export function readPageRequest(
  { resource, sorts, defaultSort, defaultDirection }: Listing,
  query: Record<string, string>,
): { request: PageRequest; faults: Fault[] } {
  const faults: Fault[] = []
  const wrong = (param: string, message: string, code: Fault['code'] = 'parameter_invalid_format') => {
    faults.push({ code, param, message })
  }
  const limit = readLimit(query.limit, wrong)
  if (query.page !== undefined && query.page !== 'next' && query.page !== 'prev')
    wrong('page', 'The value of `page` must be `next` or `prev`.')
  if (query.sort !== undefined && !Object.hasOwn(sorts, query.sort)) {
    wrong(
      'sort',
      `The value of \`sort\` must be one of ${Object.keys(sorts)
        .map((name) => `\`${name}\``)
        .join(', ')}.`,
    )
  }
  if (query.direction !== undefined && query.direction !== 'asc' && query.direction !== 'desc') {
    wrong('direction', 'The value of `direction` must be `asc` or `desc`.')
  }
  const q = query.q === undefined ? undefined : trimWhiteSpace(query.q)
  if (q !== undefined && lengthOf(q) > Q_LENGTH_MAX)
    wrong('q', `The parameter \`q\` may have at most ${Q_LENGTH_MAX} characters.`, 'validation_failed')
  const cursor = query.cursor ? decodeCursor(query.cursor, resource) : undefined
  if (query.cursor === '' || cursor === null || (cursor && !fits(sorts, cursor))) {
    wrong('cursor', 'The value of `cursor` is not a cursor for this list. Start again without it.')
  }
  const sort = query.sort ?? cursor?.sort ?? defaultSort
  const direction = (query.direction ?? cursor?.direction ?? (sort === defaultSort ? defaultDirection : 'asc')) as 'asc' | 'desc'
  if (cursor && (cursor.sort !== sort || cursor.direction !== direction)) {
    wrong(
      'cursor',
      'This `cursor` belongs to another `sort` or `direction`. Send the values that you used for the first page, or leave them out.',
    )
  } else if (cursor && q !== undefined && cursor.q !== q) {
    wrong('cursor', 'This `cursor` belongs to another `q`. Send the value that you used for the first page, or leave it out.')
  }
  return {
    request: {
      limit,
      travel: cursor && query.page === 'prev' ? 'prev' : 'next',
      sort,
      direction,
      ...(cursor && { cursor }),
      q: q ?? cursor?.q ?? '',
    },
    faults,
  }
}

/** Does the listing have the sort of the cursor, and does the value have the type of its column? */
function fits(sorts: Record<string, Sort>, { sort, position: { sortValue } }: Cursor): boolean {
  const column = Object.hasOwn(sorts, sort) ? sorts[sort] : undefined
  if (!column) return false
  return sortValue === null ? column.nullable === true : isOfType[column.type](sortValue)
}

const INTEGER_MAX = 2_147_483_647

const isOfType: Record<Sort['type'], (value: string | number) => boolean> = {
  bigint: (value) => typeof value === 'number',
  integer: (value) => typeof value === 'number' && Math.abs(value) <= INTEGER_MAX,
  text: (value) => typeof value === 'string',
  timestamptz: (value) =>
    typeof value === 'string' &&
    /^(?!0000)\d{4}-/.test(value) &&
    !Number.isNaN(Date.parse(value)) &&
    new Date(value).toISOString() === value,
}

function readLimit(text: string | undefined, wrong: (param: string, message: string, code?: Fault['code']) => void): number {
  if (text === undefined || text === '' || text === 'null') return LIMIT_DEFAULT
  if (!/^-?\d+$/.test(text)) {
    wrong('limit', 'The value of `limit` must be an integer.')
    return LIMIT_DEFAULT
  }
  const limit = Number(text)
  if (limit < -1 || limit > LIMIT_MAX) wrong('limit', `The value of \`limit\` must be from -1 to ${LIMIT_MAX}.`, 'validation_failed')
  return limit === 0 ? 0 : limit
}

/**
 * The module’s part of the statement: everything except keyset, order and limit. `behind` is the condition for rows before the cursor, where that is
 * another one. A source whose text depends on a rule `isOneOff`: its statement is not prepared.
 */
export type PageSource = { select: Sql; from: Sql; where: Sql; behind?: Sql; isOneOff?: true }

/** Reads a page. Rows must contain the sort column and the id under their own names. */
export async function pageOf<S extends TSchema, R extends Record<string, unknown>>(
  ctx: Pick<Ctx, 'db' | 'config'>,
  row: S,
  listing: Listing,
  request: PageRequest,
  source: PageSource,
): Promise<PageOf<R>> {
  const ofRow = {
    position: (found: R) => positionOf(listing, request, (name) => found[name]),
    isBehind: (found: R) => found.page_behind === true,
  }
  const read = async (statement: Sql) => (await ctx.db.many(withBehind(row), statement)) as R[]
  return mapPage(await pageFrom(ctx, listing, request, source, ofRow, read), withoutBehind)
}

/** The page of `pageOf` for a writer that takes rows as they are sent. Its results are the offsets at which the rows begin. */
export async function bytesPageOf(
  ctx: Pick<Ctx, 'db' | 'config'>,
  listing: Listing,
  request: PageRequest,
  source: PageSource,
): Promise<PageOf<number> & { rows: RowBytes }> {
  let rows = NO_ROW_BYTES
  const ofRow = {
    position: (start: number) => positionInBytes(listing, request, rows, start),
    isBehind: (start: number) => valueIn(rows, start, 'page_behind', booleanOf) === true,
  }
  const page = await pageFrom(ctx, listing, request, source, ofRow, async (statement) => {
    rows = await ctx.db.bytes(statement)
    return rows.starts
  })
  return { ...page, rows }
}

async function pageFrom<R>(
  { config }: Pick<Ctx, 'config'>,
  listing: Listing,
  request: PageRequest,
  source: PageSource,
  ofRow: { position: (row: R) => Position; isBehind: (row: R) => boolean },
  read: (statement: Sql) => Promise<R[]>,
): Promise<PageOf<R>> {
  if (request.limit === 0) return { results: [], nextCursor: null, prevCursor: null, limit: 0 }
  const allMax = config.LIST_ALL_MAX
  const where = request.q && listing.search ? sql`${source.where} and ${searchIn(listing.search, request.q)}` : source.where
  const size = request.limit === -1 ? allMax : request.limit
  const found = await read(pageStatement(listing, request, { ...source, where }, size + 1))
  if (request.limit === -1 && found.length > allMax) {
    throw fault('validation_failed', 'limit', `More than ${allMax} rows match. Read them in pages, with a \`limit\` of 1 to ${LIMIT_MAX}.`)
  }
  const more = found.length > size
  const shown = more ? found.slice(0, size) : found
  if (request.travel === 'prev') shown.reverse()
  const first = shown[0]
  const ends = first === undefined ? null : { first, last: shown.at(-1) as R }
  const positions = ends && { first: () => ofRow.position(ends.first), last: () => ofRow.position(ends.last) }
  return {
    results: shown,
    limit: request.limit,
    ...cursorsOf(listing, request, positions, more, first !== undefined && ofRow.isBehind(first)),
  }
}

/** Limits that are part of the statement. With a parameter, PostgreSQL plans each page anew, because no plan for any limit looks as good. */
const LIMITS_WRITTEN = new Map([10, LIMIT_DEFAULT, 50, LIMIT_MAX].map((limit) => [limit + 1, raw(`limit ${limit + 1}`)]))

/** The limit of a statement for a page, which reads one row more than the page has. */
export const limitTo = (rows: number): Sql => LIMITS_WRITTEN.get(rows) ?? sql`limit ${rows}`

function pageStatement(listing: Listing, request: PageRequest, source: PageSource, rows: number): Sql {
  const limit = limitTo(rows)
  const backwards = request.travel === 'prev'
  const position = request.cursor?.position
  const parts = partsBeyond(listing, request, backwards, position, request.cursor?.inclusive ?? false)
  const behind = anythingBehind(listing, request, source)
  const selects = parts.map(
    (part) =>
      sql`select ${source.select}, ${behind} as page_behind from ${source.from} where ${source.where} and ${part.where} order by ${part.order} ${limit}`,
  )
  return source.isOneOff ? unprepared(unionOf(selects, limit)) : unionOf(selects, limit)
}

// The parts are in the order of the page, and each is limited to the rows of the page.
function unionOf(parts: Sql[], limit: Sql): Sql {
  const [only] = parts
  if (parts.length === 1 && only) return only
  return sql`${join(
    parts.map((part) => sql`(${part})`),
    ' union all ',
  )} ${limit}`
}

type Part = { where: Sql; order: Sql }

/**
 * The rows beyond a position in the direction of travel, as one or two ranges of an index: rows with a sort value, and rows
 * without. Nulls come last in both directions, which no index order provides, so they need their own range.
 */
function partsBeyond(
  listing: Listing,
  { sort, direction }: PageRequest,
  backwards: boolean,
  position: Position | undefined,
  inclusive: boolean,
): Part[] {
  const { column, type, nullable } = listing.sorts[sort] as Sort
  const { id } = listing
  const ascending = (direction === 'asc') !== backwards
  const way = ascending ? sql`asc` : sql`desc`
  const beyond = sql`${raws[ascending ? '>' : '<']}${inclusive ? raws['='] : raws['']}`
  const order = sameColumn(column, id) ? sql`${id} ${way}` : sql`${column} ${way}, ${id} ${way}`
  if (!position)
    return inOrder(
      backwards,
      { where: nullable ? sql`${column} is not null` : raws.true, order },
      nullable && { where: sql`${column} is null`, order: sql`${id} ${way}` },
    )
  const value = position.sortValue
  if (value === null) {
    const nulls = { where: sql`${column} is null and ${id} ${beyond} ${position.id}`, order: sql`${id} ${way}` }
    return backwards ? [nulls, { where: sql`${column} is not null`, order }] : [nulls]
  }
  const after = sameColumn(column, id)
    ? sql`${id} ${beyond} ${position.id}`
    : sql`(${column}, ${id}) ${beyond} (${value}::${casts[type]}, ${position.id}::bigint)`
  const valued = { where: after, order }
  return nullable && !backwards ? [valued, { where: sql`${column} is null`, order: sql`${id} ${way}` }] : [valued]
}

const inOrder = (backwards: boolean, valued: Part, nulls: Part | undefined): Part[] =>
  nulls ? (backwards ? [nulls, valued] : [valued, nulls]) : [valued]

const sameColumn = (a: Sql, b: Sql) => a === b || (a.values.length === 0 && b.values.length === 0 && a.strings[0] === b.strings[0])

const raws = { '>': sql`>`, '<': sql`<`, '=': sql`=`, '': sql``, true: sql`true` }
const casts = { bigint: sql`bigint`, text: sql`text`, timestamptz: sql`timestamptz`, integer: sql`integer` }

/**
 * Is there a row on the other side of the cursor? Without a cursor there is none. The condition depends only on the cursor, so
 * the database evaluates it once per page.
 */
function anythingBehind(listing: Listing, request: PageRequest, source: PageSource): Sql {
  const { cursor } = request
  if (!cursor) return sql`false`
  const parts = partsBeyond(listing, request, request.travel === 'next', cursor.position, !cursor.inclusive)
  const exists = parts.map((part) => sql`exists (select 1 from ${source.from} where ${source.behind ?? source.where} and ${part.where})`)
  return sql`(${join(exists, ' or ')})`
}

/** The page with each item mapped to what the caller may see. */
export const mapPage = <A, B>(page: PageOf<A>, present: (item: A) => B): PageOf<B> => ({ ...page, results: page.results.map(present) })
