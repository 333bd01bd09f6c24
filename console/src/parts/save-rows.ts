import type { CarillonError } from '@carillon/sdk'
import { useMutation } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useApi } from '../session/project.tsx'
import { type CsvCell, csvOf } from './csv.ts'
import type { Column } from './data-table.tsx'
import type { Paged } from './paging.ts'
import type { ShownRequest } from './request-code.ts'
import { saveFile } from './save-file.ts'
import { said } from './toast.ts'

const ROWS_MAX = 10_000
const PAGE_MAX = 100

/** A column that a file has too, unless it has no data: only buttons or a link. */
export type SavedColumn<T> = Column<T> & ({ text: (row: T) => CsvCell } | { isUnlabelled: true } | { hasNoData: true })

/** Reads pages one after another, up to a number of rows. Says whether there are more. */
export async function readAll<T>(
  read: (cursor: string | undefined) => Promise<Pick<Paged<T>, 'results' | 'nextCursor'>>,
  most: number = ROWS_MAX,
): Promise<{ rows: T[]; isCut: boolean }> {
  const rows: T[] = []
  let cursor: string | undefined
  do {
    const { results, nextCursor } = await read(cursor)
    rows.push(...results)
    cursor = nextCursor ?? undefined
  } while (cursor !== undefined && rows.length < most)
  return { rows: rows.slice(0, most), isCut: cursor !== undefined || rows.length > most }
}

/** The rows as a file, with the columns that are shown. The second line of a cell is a column of its own. */
export function csvOfRows<T>(columns: SavedColumn<T>[], rows: T[]): string {
  const parts = columns.flatMap(({ label, text, also = [] }) => (text ? [{ label, text }, ...also] : []))
  return csvOf([parts.map(({ label }) => label), ...rows.map((row) => parts.map(({ text }) => text(row)))])
}

/** Saves all pages of a list as a file, with its search and its filters. */
export function useSaveRows<T>({ path, params, query = {} }: Omit<ShownRequest, 'method'>, columns: SavedColumn<T>[]) {
  const { t, i18n } = useTranslation()
  const api = useApi()
  const { cursor: _, page: __, ...filters } = query
  const get = api.get as (path: string, options: object) => Promise<Paged<T>>
  const read = (cursor: string | undefined) =>
    get(path, { ...(params && { path: params }), query: { ...filters, limit: PAGE_MAX, ...(cursor !== undefined && { cursor }) } })
  return useMutation<{ rows: T[]; isCut: boolean }, CarillonError, void>({
    mutationFn: () => readAll(read),
    meta: { isOfMember: true },
    onSuccess: ({ rows, isCut }) => {
      saveFile({ name: `${path.split('/').at(-1)}.csv`, type: 'text/csv', text: csvOfRows(columns, rows) })
      const number = new Intl.NumberFormat(i18n.language).format(rows.length)
      said(t(isCut ? 'csv.cut' : 'csv.saved', { count: rows.length, number }))
    },
  })
}
