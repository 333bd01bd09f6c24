/** Where in free-form data a value stands: `data.plan`, `data.address.city`, `data.a\.b` for a key with a dot. */
import { type Sql, sql } from '../../../infra/postgres/db.ts'

const ROOT = 'data.'
const KEYS_MAX = 16

export const PATH_LENGTH_MAX = 1000

/** The keys on the way to the value, or null when it is no path. A backslash takes its meaning from a dot or a backslash. */
export function pathOf(attribute: string): string[] | null {
  if (!attribute.startsWith(ROOT)) return null
  const keys: string[] = []
  let key = ''
  for (const [token] of attribute.slice(ROOT.length).matchAll(/\\[.\\]|./gsu)) {
    if (token === '.') {
      keys.push(key)
      key = ''
    } else key += /^\\[.\\]$/.test(token) ? token[1] : token
  }
  keys.push(key)
  return keys.includes('') || keys.length > KEYS_MAX ? null : keys
}

/** Reads the value; undefined when there is none. Elements of arrays have no path. */
export function valueAt([first = '', ...rest]: readonly string[]): (data: Record<string, unknown>) => unknown {
  if (rest.length === 0) return (data) => (Object.hasOwn(data, first) ? data[first] : undefined)
  const inner = valueAt(rest)
  return (data) => {
    const value = Object.hasOwn(data, first) ? data[first] : undefined
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? inner(value as Record<string, unknown>) : undefined
  }
}

/** The same in SQL. The operator `->` with a text finds members of objects only. */
export const pathSql = (data: Sql, path: readonly string[]): Sql => path.reduce((value, key) => sql`${value} -> ${key}::text`, data)

/** A name within a sentence, in quotation marks when it does not look like one. */
export const sayName = (name: string): string => (/^[\w.-]+$/.test(name) ? name : `“${name}”`)
