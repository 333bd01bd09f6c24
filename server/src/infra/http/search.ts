/** What `q` does, for every list alike: a case-insensitive substring of any of the texts, without operators (D-PAGE-3). */
import { join, type Sql, sql } from '../postgres/db.ts'

/** Does any of the texts hold `q`? */
export function searchIn(texts: Sql[], q: string): Sql {
  const pattern = likePattern(q)
  return sql`(${join(
    texts.map((text) => sql`${text} ilike ${pattern}`),
    ' or ',
  )})`
}

/** `%` and `_` mean themselves. */
export const likePattern = (q: string): string => `%${q.replace(/[\\%_]/g, '\\$&')}%`
