/** Attribute paths in SQL and in words. */
import { type Sql, sql } from '../../../infra/postgres/db.ts'

export const PATH_LENGTH_MAX = 1000

/** The value at a path, in SQL. The operator `->` with text finds members of objects only. */
export const pathSql = (data: Sql, path: readonly string[]): Sql => path.reduce((value, key) => sql`${value} -> ${key}::text`, data)

/** The text of the value at a path, in SQL, if that is a string. */
export const pathTextSql = (data: Sql, path: readonly string[]): Sql => sql`${pathSql(data, path.slice(0, -1))} ->> ${path.at(-1)}::text`

/** A name for use in a sentence, in quotation marks if it contains other characters than word characters, dots and hyphens. */
export const describeName = (name: string): string => (/^[\w.-]+$/.test(name) ? name : `“${name}”`)
