/**
 * Cursors: where a page ends, as opaque text that callers may keep (D-PAGE-2).
 * They are not signed: a cursor chooses a position but never a tenant, and every value in it is a bound parameter.
 */
export type Position = { sortValue: string | number | null; id: number }

export type Cursor = {
  resource: string
  sort: string
  direction: 'asc' | 'desc'
  position: Position
  /** The row at the position belongs to the page, because the page after it was empty. */
  inclusive: boolean
  /** The search term of the first page. */
  q: string
}

const VERSION = 1

/** Writes a cursor as base64url. */
export function encodeCursor(cursor: Cursor): string {
  const { resource, sort, direction, position, inclusive, q } = cursor
  const json = JSON.stringify({
    v: VERSION,
    r: resource,
    s: sort,
    d: direction,
    k: [position.sortValue, position.id],
    ...(inclusive && { i: true }),
    ...(q !== '' && { q }),
  })
  return Buffer.from(json).toString('base64url')
}

/** Reads a cursor. Null if it is not one of ours, or belongs to another resource or version. */
export function decodeCursor(text: string, resource: string): Cursor | null {
  if (!/^[A-Za-z0-9_-]{1,4096}$/.test(text)) return null
  let read: unknown
  try {
    read = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    return null
  }
  if (typeof read !== 'object' || read === null) return null
  const { v, r, s, d, k, i = false, q = '' } = read as Record<string, unknown>
  if (v !== VERSION || r !== resource || typeof s !== 'string' || (d !== 'asc' && d !== 'desc')) return null
  if (typeof i !== 'boolean' || !isText(q) || !isKey(k)) return null
  return { resource, sort: s, direction: d, position: { sortValue: k[0], id: k[1] }, inclusive: i, q }
}

const isKey = (k: unknown): k is [Position['sortValue'], number] => {
  if (!Array.isArray(k) || k.length !== 2 || !Number.isSafeInteger(k[1]) || k[1] < 0) return false
  const [value] = k
  return value === null || Number.isSafeInteger(value) || isText(value)
}

/** Text that PostgreSQL can hold. */
const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0') && value.isWellFormed()
