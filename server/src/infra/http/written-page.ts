import type { RowBytes } from '../../lib/row-bytes.ts'
import { type rowsWriter, Written } from '../../lib/written.ts'
import type { PageOf } from './paging.ts'

/** The page as JSON, with its rows as `write` writes them. Releases them. */
export function writtenPage<T>(
  { results, rows, ...page }: PageOf<number> & { rows: RowBytes },
  write: ReturnType<typeof rowsWriter>,
): Written<PageOf<T>> {
  const json = write(rows, results, '{"results":[', `],${JSON.stringify(page).slice(1)}`)
  rows.release()
  return new Written(json)
}
