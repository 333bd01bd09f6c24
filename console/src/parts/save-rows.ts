import type { CarillonError } from '@carillon/sdk'
import { useMutation } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useApi } from '../session/project.tsx'
import { type CsvCell, csvOfRows } from './csv.ts'
import type { Column } from './data-table.tsx'
import { type Paged, queryOfAll, readAll } from './paging.ts'
import type { ShownRequest } from './request-code.ts'
import { saveFile } from './save-file.ts'
import { said } from './toast.ts'

const PAGE_MAX = 100

/** A column that a file has too, unless it has no data: only buttons or a link. */
export type SavedColumn<T> = Column<T> & ({ text: (row: T) => CsvCell } | { isUnlabelled: true } | { hasNoData: true })

/** The request for a page of a list: `GET`, or `POST` where the body says what is listed. */
export type ListRequest = Omit<ShownRequest, 'method'> & { method?: 'POST' }

/** Saves all pages of a list as a file, with its search and its filters. */
export function useSaveRows<T>({ method, path, params, query = {}, body }: ListRequest, columns: SavedColumn<T>[]) {
  const { t, i18n } = useTranslation()
  const api = useApi()
  const send = (method === 'POST' ? api.post : api.get) as (path: string, options: object) => Promise<Paged<T>>
  const read = (cursor: string | undefined) =>
    send(path, {
      ...(params && { path: params }),
      query: { ...queryOfAll(query), limit: PAGE_MAX, ...(cursor !== undefined && { cursor }) },
      ...(body !== undefined && { body }),
    })
  const name = path.split('/').findLast((part) => part !== 'search')
  return useMutation<{ rows: T[]; isCut: boolean }, CarillonError, void>({
    mutationFn: () => readAll(read),
    meta: { isOfMember: true },
    onSuccess: ({ rows, isCut }) => {
      saveFile({ name: `${name}.csv`, type: 'text/csv', text: csvOfRows(columns, rows) })
      const number = new Intl.NumberFormat(i18n.language).format(rows.length)
      said(t(isCut ? 'csv.cut' : 'csv.saved', { count: rows.length, number }))
    },
  })
}
