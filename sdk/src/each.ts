/** Lists of more than one page. */
import type { Client, Options, PathOf, Reply } from './client.ts'

type Page = { results: unknown[]; nextCursor: string | null }

/** The paths of lists that have pages. */
export type ListPath = { [P in PathOf<'get'>]: Reply<P, 'get'> extends Page ? P : never }[PathOf<'get'>]

export type ItemOf<P extends ListPath> = Reply<P, 'get'> extends { results: (infer T)[] } ? T : never

type Arguments<P extends ListPath> =
  Record<never, never> extends Options<P, 'get'> ? [options?: Options<P, 'get'>] : [options: Options<P, 'get'>]
type AnyOptions = { query?: Record<string, unknown> }

/** Fewer requests than with the default of the server. */
const LIMIT = 100

/** Yields every item of a list from its first page on, and reads the next page when the items of one are used up. */
export async function* each<P extends ListPath>(client: Client, path: P, ...[options]: Arguments<P>): AsyncGenerator<ItemOf<P>, void> {
  const given = (options ?? {}) as AnyOptions
  const read = client.get as (path: string, options: object) => Promise<Page>
  let query: Record<string, unknown> = { limit: LIMIT, ...given.query }
  for (;;) {
    const { results, nextCursor } = await read(path, { ...given, query })
    yield* results as ItemOf<P>[]
    // A page without items, such as with a limit of 0, would be followed by itself.
    if (nextCursor === null || results.length === 0) return
    query = { ...query, cursor: nextCursor }
  }
}
