/** Which columns the list of users has: fields that every user has, and attributes by their paths. */
import { namesOf, pathOf } from '../../parts/attribute-paths.ts'

/** The fields that can be columns. The user is always the first column. */
export const FIELDS = ['email', 'phone', 'locale', 'timezone', 'anonymous_id', 'has_push_device', 'created_at', 'updated_at'] as const

/** What is shown until the reader has chosen. */
export const FIRST_COLUMNS: readonly string[] = ['email', 'phone', 'locale', 'timezone', 'updated_at']

export const COLUMNS_MAX = 20
const SHORT_MAX = 60
const DEPTH_MAX = 4

type Data = Record<string, unknown>

const isField = (id: string) => FIELDS.some((field) => field === id)

const isObject = (value: unknown): value is Data => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads what was stored; values that are not columns are left out, and without a list the default columns are shown. */
export function columnsOf(stored: string | null): readonly string[] {
  try {
    const ids: unknown = JSON.parse(stored ?? '')
    if (!Array.isArray(ids)) return FIRST_COLUMNS
    const columns = ids.filter((id): id is string => typeof id === 'string' && (isField(id) || namesOf(id) !== null))
    return [...new Set(columns)].slice(0, COLUMNS_MAX)
  } catch {
    return FIRST_COLUMNS
  }
}

/** Removes a column, or adds it at the end, up to the maximum number of columns. */
export const withToggled = (columns: readonly string[], id: string): readonly string[] =>
  columns.includes(id) ? columns.filter((column) => column !== id) : [...columns, id].slice(0, COLUMNS_MAX)

/** The value of an attribute; undefined if the user does not have it. */
export function valueAt(data: Data, path: string): unknown {
  let value: unknown = data
  for (const name of namesOf(path) ?? []) {
    // An attribute may be called as something that every object has.
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

/** A value as plain text: objects and arrays as JSON, nothing as an empty text. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** A text that fits into a cell. */
export function shortened(text: string): string {
  const letters = [...text]
  return letters.length > SHORT_MAX ? `${letters.slice(0, SHORT_MAX - 1).join('')}…` : text
}

/** The paths of the attributes inside attributes. The API lists only the outermost ones. */
export function pathsInside(data: Data, outer: string[] = []): string[] {
  return Object.entries(data).flatMap(([name, value]) => {
    const names = [...outer, name]
    const inner = isObject(value) && names.length < DEPTH_MAX ? pathsInside(value, names) : []
    return outer.length > 0 ? [pathOf(names), ...inner] : inner
  })
}
