/**
 * One page for every list endpoint (D-PAGE-1 to D-PAGE-3): reads the parameters, builds the statement, makes the cursors.
 * A module says what can be sorted and searched; how paging works is said here once.
 */
import { type TSchema, Type } from 'typebox'
import { type Cursor, decodeCursor, encodeCursor, type Position } from '../../lib/cursor.ts'
import { type Fault, fault } from '../../lib/errors.ts'
import { lengthOf, trimWhiteSpace } from '../../lib/text.ts'
import { type Db, join, type Sql, sql } from '../postgres/db.ts'
import { searchIn } from './search.ts'

export type Sort = {
  column: Sql
  /** What the column holds; cursors carry it and bind it again. */
  type: 'bigint' | 'text' | 'timestamptz' | 'integer'
  nullable?: true
}

/** What a resource can be sorted by and searched in. */
export type Listing = {
  resource: string
  sorts: Record<string, Sort>
  defaultSort: string
  defaultDirection: 'asc' | 'desc'
  /** The column that breaks ties and names the row: `id` unless said otherwise. */
  id: Sql
  idName: string
  /** Texts that `q` looks into; modules with an index of their own search by themselves. */
  search?: Sql[]
  searchedFields: string
}

/** Declares a listing; `id` is the usual tie-break. */
export function listing(options: Omit<Listing, 'id' | 'idName'> & { id?: Sql; idName?: string }): Listing {
  return { id: sql`id`, idName: 'id', ...options }
}

export const LIMIT_DEFAULT = 25
const LIMIT_MAX = 100
const Q_LENGTH_MAX = 255

/** The parameters of a list request, checked. */
export type PageRequest = {
  limit: number
  travel: 'next' | 'prev'
  sort: string
  direction: 'asc' | 'desc'
  cursor?: Cursor
  q: string
}

export type PageOf<T> = { results: T[]; nextCursor: string | null; prevCursor: string | null; limit: number }

export const PAGING_PARAMETERS = ['cursor', 'page', 'limit', 'sort', 'direction', 'q'] as const

/** Reads the paging parameters. Returns faults instead of throwing, so that they stand beside those of other parameters. */
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
    wrong('cursor', 'The value of `cursor` is not a cursor of this list. Start again without it.')
  }
  const sort = query.sort ?? cursor?.sort ?? defaultSort
  const direction = (query.direction ??
    (query.sort === undefined ? cursor?.direction : undefined) ??
    (sort === defaultSort ? defaultDirection : 'asc')) as 'asc' | 'desc'
  if (cursor && (cursor.sort !== sort || cursor.direction !== direction)) {
    wrong('cursor', 'The `cursor` was made with another `sort` or `direction`. Repeat those of the first page, or leave them out.')
  } else if (cursor && q !== undefined && cursor.q !== q) {
    wrong('cursor', 'The `cursor` was made with another `q`. Repeat that of the first page.')
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

/** Does the cursor sort by something there is, and is its value such as that column holds? */
function fits(sorts: Record<string, Sort>, { sort, position: { sortValue } }: Cursor): boolean {
  const column = Object.hasOwn(sorts, sort) ? sorts[sort] : undefined
  if (!column) return false
  return sortValue === null ? column.nullable === true : holds[column.type](sortValue)
}

const INTEGER_MAX = 2_147_483_647

const holds: Record<Sort['type'], (value: string | number) => boolean> = {
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
  if (!/^-?\d{1,4}$/.test(text)) {
    wrong('limit', 'The value of `limit` must be an integer.')
    return LIMIT_DEFAULT
  }
  const limit = Number(text)
  if (limit < -1 || limit > LIMIT_MAX) wrong('limit', `The value of \`limit\` must be from -1 to ${LIMIT_MAX}.`, 'validation_failed')
  return limit === 0 ? 0 : limit
}

/** What a module's query contributes: everything of the statement but the keyset, the order and the limit. */
export type PageSource = { select: Sql; from: Sql; where: Sql }

/**
 * Runs one page. Rows must carry the sort column and the id under their own names.
 * `allMax` bounds what `limit=-1` may return.
 */
export async function pageOf<S extends TSchema, R extends Record<string, unknown>>(
  db: Db,
  row: S,
  listing: Listing,
  request: PageRequest,
  source: PageSource,
  allMax: number,
): Promise<PageOf<R>> {
  if (request.limit === 0) return { results: [], nextCursor: null, prevCursor: null, limit: 0 }
  const where = request.q && listing.search ? sql`${source.where} and ${searchIn(listing.search, request.q)}` : source.where
  const size = request.limit === -1 ? allMax : request.limit
  const found = (await db.many(withMark(row), pageStatement(listing, request, { ...source, where }, size + 1))) as R[]
  if (request.limit === -1 && found.length > allMax) {
    throw fault(
      'validation_failed',
      'limit',
      `More than ${allMax} rows match. Page through them with a \`limit\` of 1 to ${LIMIT_MAX} instead.`,
    )
  }
  const more = found.length > size
  const shown = more ? found.slice(0, size) : found
  if (request.travel === 'prev') shown.reverse()
  const behind = shown[0]?.page_behind === true
  return { results: shown.map(withoutMark), limit: request.limit, ...cursors(listing, request, shown, more, behind) }
}

function pageStatement(listing: Listing, request: PageRequest, source: PageSource, rows: number): Sql {
  const backwards = request.travel === 'prev'
  const position = request.cursor?.position
  const parts = partsBeyond(listing, request, backwards, position, request.cursor?.inclusive ?? false)
  const behind = anythingBehind(listing, request, source)
  return unionOf(
    parts.map(
      (part) =>
        sql`select ${source.select}, ${behind} as page_behind from ${source.from} where ${source.where} and ${part.where} order by ${part.order} limit ${rows}`,
    ),
    rows,
  )
}

// The parts come in the order of the page, and the first rows of each are all that can be shown.
function unionOf(parts: Sql[], rows: number): Sql {
  const [only] = parts
  if (parts.length === 1 && only) return only
  return sql`${join(
    parts.map((part) => sql`(${part})`),
    ' union all ',
  )} limit ${rows}`
}

type Part = { where: Sql; order: Sql }

/**
 * The rows beyond a position, in the order of travel, as one or two ranges of an index: rows with a sort value, rows without.
 * Nulls are always shown last, which no index order does in both directions; hence the two ranges.
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
 * Is there a row on the side the walk came from? Without a cursor there is none by definition. It depends on the cursor
 * alone, so that the database answers it once, beside the page.
 */
function anythingBehind(listing: Listing, request: PageRequest, source: PageSource): Sql {
  const { cursor } = request
  if (!cursor) return sql`false`
  const parts = partsBeyond(listing, request, request.travel === 'next', cursor.position, !cursor.inclusive)
  const exists = parts.map((part) => sql`exists (select 1 from ${source.from} where ${source.where} and ${part.where})`)
  return sql`(${join(exists, ' or ')})`
}

const marked = new WeakMap<TSchema, TSchema>()

/** The shape of a row with the answer of `anythingBehind` in it. */
function withMark<S extends TSchema>(row: S): S {
  const known = marked.get(row)
  if (known) return known as S
  const { properties } = row as { properties?: Record<string, TSchema> }
  const shape = { ...row, properties: { ...properties, page_behind: Type.Boolean() } }
  marked.set(row, shape)
  return shape
}

function withoutMark<R extends Record<string, unknown>>({ page_behind: _, ...row }: R & { page_behind?: unknown }): R {
  return row as unknown as R
}

function cursors(listing: Listing, request: PageRequest, shown: Record<string, unknown>[], more: boolean, behind: boolean) {
  const at = (row: Record<string, unknown>) => write(listing, request, positionOf(listing, request, row), false)
  const first = shown[0]
  const last = shown.at(-1)
  if (!first || !last) {
    // Everything beyond the cursor is gone: the way back leads to the row of the cursor itself.
    const back = request.cursor ? write(listing, request, request.cursor.position, true) : null
    return request.travel === 'next' ? { nextCursor: null, prevCursor: back } : { nextCursor: back, prevCursor: null }
  }
  const [ahead, before] = request.travel === 'next' ? [more, behind] : [behind, more]
  return { nextCursor: ahead ? at(last) : null, prevCursor: before ? at(first) : null }
}

const write = ({ resource }: Listing, { sort, direction, q }: PageRequest, position: Position, inclusive: boolean) =>
  encodeCursor({ resource, sort, direction, position, inclusive, q })

function positionOf(listing: Listing, { sort }: PageRequest, row: Record<string, unknown>): Position {
  const value = row[sort]
  return {
    sortValue: value instanceof Date ? value.toISOString() : ((value ?? null) as Position['sortValue']),
    id: row[listing.idName] as number,
  }
}

/** The same page with each item as the caller sees it. */
export const mapPage = <A, B>(page: PageOf<A>, present: (item: A) => B): PageOf<B> => ({ ...page, results: page.results.map(present) })
