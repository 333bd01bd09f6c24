/** What lists can be sorted by and searched in, what is asked of them, and their pages. */
import type { Cursor } from '../../lib/cursor.ts'
import { type Sql, sql } from '../postgres/db.ts'

export type Sort = {
  column: Sql
  /** The type of the column, to which values of cursors are cast. */
  type: 'bigint' | 'text' | 'timestamptz' | 'integer'
  nullable?: true
}

/** What a resource can be sorted by and searched in. */
export type Listing = {
  resource: string
  sorts: Record<string, Sort>
  defaultSort: string
  defaultDirection: 'asc' | 'desc'
  /** The unique column that breaks ties; `id` by default. */
  id: Sql
  idName: string
  /** The texts that `q` searches. Modules with their own search leave it out. */
  search?: Sql[]
  searchedFields: string
  /** Whether `q` finds only a complete text, in any notation. */
  findsWhole?: true
}

/** Declares a listing. */
export function listing(options: Omit<Listing, 'id' | 'idName'> & { id?: Sql; idName?: string }): Listing {
  return { id: sql`id`, idName: 'id', ...options }
}

/** The validated parameters of a list request. */
export type PageRequest = {
  limit: number
  travel: 'next' | 'prev'
  sort: string
  direction: 'asc' | 'desc'
  cursor?: Cursor
  q: string
}

export type PageOf<T> = { results: T[]; nextCursor: string | null; prevCursor: string | null; limit: number }
