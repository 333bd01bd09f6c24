/** The cursors of a page. */
import { encodeCursor, type Position } from '../../lib/cursor.ts'
import { instantOf, integerOf, type RowBytes, textOf, valueIn } from '../../lib/row-bytes.ts'
import type { Listing, PageOf, PageRequest, Sort } from './listing.ts'

/** The cursors before the first row of a page and after its last; `positions` is null if it has none. There is `more` in the direction of travel, or `behind`. */
export function cursorsOf(
  listing: Listing,
  request: PageRequest,
  positions: { first: () => Position; last: () => Position } | null,
  more: boolean,
  behind: boolean,
): Pick<PageOf<unknown>, 'nextCursor' | 'prevCursor'> {
  if (!positions) {
    // There are no rows beyond the cursor any more. The cursor for the way back includes its own row.
    const back = request.cursor ? write(listing, request, request.cursor.position, true) : null
    return request.travel === 'next' ? { nextCursor: null, prevCursor: back } : { nextCursor: back, prevCursor: null }
  }
  const [ahead, before] = request.travel === 'next' ? [more, behind] : [behind, more]
  return {
    nextCursor: ahead ? write(listing, request, positions.last(), false) : null,
    prevCursor: before ? write(listing, request, positions.first(), false) : null,
  }
}

const write = ({ resource }: Listing, { sort, direction, q }: PageRequest, position: Position, inclusive: boolean) =>
  encodeCursor({ resource, sort, direction, position, inclusive, q })

/** The position of a row, from its columns. */
export function positionOf(listing: Listing, { sort }: PageRequest, column: (name: string) => unknown): Position {
  const value = column(sort) ?? null
  return { sortValue: value instanceof Date ? value.toISOString() : (value as Position['sortValue']), id: column(listing.idName) as number }
}

/** The position of the row that begins at `start`. */
export function positionInBytes(listing: Listing, { sort }: PageRequest, rows: RowBytes, start: number): Position {
  const read = readers[(listing.sorts[sort] as Sort).type]
  return { sortValue: valueIn(rows, start, sort, read), id: valueIn(rows, start, listing.idName, integerOf) as number }
}

type Read = (bytes: Buffer, start: number, end: number) => string | number

const readers: Record<Sort['type'], Read> = {
  bigint: integerOf,
  integer: integerOf,
  text: textOf,
  timestamptz: (bytes, start, end) => new Date(instantOf(bytes, start, end)).toISOString(),
}
