/** Reads the value at an attribute path, from data and with SQL. */
import { type Sql, sql } from '../../../infra/postgres/db.ts'

export const PATH_LENGTH_MAX = 1000

/** Reads the value at a path; undefined if there is none. Elements of arrays have no path. */
export function valueAt([first = '', ...rest]: readonly string[]): (data: Record<string, unknown>) => unknown {
  if (rest.length === 0) return (data) => (Object.hasOwn(data, first) ? data[first] : undefined)
  const inner = valueAt(rest)
  return (data) => {
    const value = Object.hasOwn(data, first) ? data[first] : undefined
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? inner(value as Record<string, unknown>) : undefined
  }
}

/** The same in SQL. The operator `->` with text finds members of objects only. */
export const pathSql = (data: Sql, path: readonly string[]): Sql => path.reduce((value, key) => sql`${value} -> ${key}::text`, data)

/** A name for use in a sentence, in quotation marks if it contains other characters than word characters, dots and hyphens. */
export const describeName = (name: string): string => (/^[\w.-]+$/.test(name) ? name : `“${name}”`)
