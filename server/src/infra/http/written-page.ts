import { Written } from '../../lib/written.ts'
import type { PageOf } from './paging.ts'

/** The page as JSON, of items that are written already. */
export const writtenPage = <T>({ results, ...page }: PageOf<string>): Written<PageOf<T>> =>
  new Written(`{"results":[${results.join()}],${JSON.stringify(page).slice(1)}`)
