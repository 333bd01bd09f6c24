import type { CarillonError } from '@carillon/sdk'
import { Button } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Failed } from './failed.tsx'
import { Loading } from './loading.tsx'
import { Num } from './number.tsx'
import type { Paged, Paging } from './paging.ts'

export type Column<T> = {
  id: string
  label: string
  /** The label is for screen readers only. */
  isUnlabelled?: boolean
  cell: (row: T) => ReactNode
  isNumber?: boolean
  /** Left out on narrow screens. */
  isExtra?: boolean
  /** Has a line of its own on narrow screens. */
  isWide?: boolean
}

type Props<T> = {
  /** What is listed, for screen readers. */
  label: string
  columns: Column<T>[]
  query: UseQueryResult<Paged<T>, CarillonError>
  rowKey: (row: T) => string | number
  /** Stands in place of the table when there is nothing. */
  empty: ReactNode
  selected?: string | number | undefined
  onPage: (paging: Paging) => void
  /** Words for the foot, such as the total. */
  total?: ReactNode
}

/** A table of a list of the API, with its pages by cursor. */
export function DataTable<T>({ label, columns, query, rowKey, empty, selected, onPage, total }: Props<T>) {
  const { data, error, isPending, isPlaceholderData, refetch } = query
  if (isPending) return <Loading />
  if (error && !data) return <Failed error={error} onRetry={() => void refetch()} />
  if (!data) return null
  if (data.results.length === 0 && !data.prevCursor) return <>{empty}</>
  return (
    <>
      <table className="rows" aria-label={label} aria-busy={isPlaceholderData}>
        <thead>
          <tr>
            {columns.map(({ id, label, isUnlabelled, isNumber, isExtra }) => (
              <th key={id} scope="col" className={classes({ num: isNumber, 'hide-s': isExtra })}>
                {isUnlabelled ? <span className="vh">{label}</span> : label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.results.map((row) => (
            <tr key={rowKey(row)} className={selected !== undefined && rowKey(row) === selected ? 'on' : undefined}>
              {columns.map(({ id, cell, isNumber, isExtra, isWide }, index) => {
                const className = classes({ num: isNumber, 'hide-s': isExtra, wide: isWide })
                return index === 0 ? (
                  <th key={id} scope="row" className={className}>
                    {cell(row)}
                  </th>
                ) : (
                  <td key={id} className={className}>
                    {cell(row)}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
      <Pages data={data} onPage={onPage} total={total} />
    </>
  )
}

const classes = (names: Record<string, boolean | undefined>) =>
  Object.keys(names)
    .filter((name) => names[name])
    .join(' ') || undefined

/** The foot of a table: how many rows, and the way to the others. */
export function Pages<T>({ data, onPage, total }: { data: Paged<T>; onPage: (paging: Paging) => void; total?: ReactNode }) {
  const { t } = useTranslation()
  const { nextCursor, prevCursor, results } = data
  return (
    <footer className="pages">
      <span>
        <Num value={results.length} /> {total ?? t('rows', { count: results.length })}
      </span>
      <span className="acts">
        {prevCursor && (
          <Button variant="default" size="xs" onClick={() => onPage({ cursor: prevCursor, page: 'prev' })}>
            {t('previousPage')}
          </Button>
        )}
        {nextCursor && (
          <Button variant="default" size="xs" onClick={() => onPage({ cursor: nextCursor })}>
            {t('nextPage')}
          </Button>
        )}
      </span>
    </footer>
  )
}
