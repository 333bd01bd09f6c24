/** The search of every list endpoint: `q` is a case-insensitive substring of any of the texts; there are no operators (D-PAGE-3). */
import { join, type Sql, sql } from '../postgres/db.ts'

/** A condition: any of the texts contains `q`. */
export function searchIn(texts: Sql[], q: string): Sql {
  const pattern = likePattern(q)
  return sql`(${join(
    texts.map((text) => sql`${text} ilike ${pattern}`),
    ' or ',
  )})`
}

/** A pattern for `like` that matches texts with `q` in them; `%` and `_` in `q` are escaped. */
export const likePattern = (q: string): string => `%${q.replace(/[\\%_]/g, '\\$&')}%`
