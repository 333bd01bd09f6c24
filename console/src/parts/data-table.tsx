import type { CarillonError } from '@carillon/sdk'
import { Button } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { CsvCell } from './csv.ts'
import { Failed } from './failed.tsx'
import { Loading } from './loading.tsx'
import { Num } from './number.tsx'
import { isNothing, type Paged, type Paging } from './paging.ts'
import { SelectAll, SelectRow } from './select-rows.tsx'

export type Column<T> = {
  id: string
  label: string
  /** The label is for screen readers only. */
  isUnlabelled?: boolean
  /** A file has no such column. */
  hasNoData?: boolean
  isNumber?: boolean
  /** Left out on narrow screens. */
  isExtra?: boolean
  /** Has a line of its own on narrow screens. */
  isWide?: boolean
  /** What the cell has besides its text, for a file. */
  also?: { label: string; text: (row: T) => CsvCell }[]
  /** Without `cell`, the cell is its text. */
} & ({ cell: (row: T) => ReactNode; text?: (row: T) => CsvCell } | { cell?: undefined; text: (row: T) => CsvCell })

/** Rows that can be selected for what is done with several of them at once. */
export type Selection<T> = {
  /** The id of the checkbox for all rows of the page, which gets the focus when the selection is cleared. */
  id: string
  /** Names the checkbox for all rows of the page. */
  label: string
  /** Names the checkbox of a row. */
  labelOf: (row: T) => string
  keys: ReadonlySet<string | number>
  onChange: (keys: ReadonlySet<string | number>) => void
  /** What can be done with the selected rows. */
  bar: ReactNode
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
  selection?: Selection<T> | undefined
  onPage: (paging: Paging) => void
  /** Words for the foot, such as the total. */
  total?: ReactNode
}

/** A table of a list of the API, with its pages by cursor. */
export function DataTable<T>({ query, empty, onPage, total, ...table }: Props<T>) {
  const { data, error, isPending, isPlaceholderData, refetch } = query
  if (isPending) return <Loading />
  if (error && !data) return <Failed error={error} onRetry={() => void refetch()} />
  if (!data) return null
  if (isNothing(data)) return <>{empty}</>
  return (
    <>
      <Table {...table} rows={data.results} isBusy={isPlaceholderData} />
      {table.selection?.bar}
      <Pages data={data} onPage={onPage} total={total} />
    </>
  )
}

type TableProps<T> = Pick<Props<T>, 'label' | 'columns' | 'rowKey' | 'selected' | 'selection'> & { rows: T[]; isBusy: boolean }

function Table<T>({ label, columns, rows, rowKey, selected, selection, isBusy }: TableProps<T>) {
  return (
    <div className="wrap">
      <table className={classes({ rows: true, selectable: selection !== undefined })} aria-label={label} aria-busy={isBusy}>
        <thead>
          <tr>
            {selection && <SelectAll selection={selection} keys={rows.map(rowKey)} />}
            {columns.map(({ id, label, isUnlabelled, isNumber, isExtra }) => (
              <th key={id} scope="col" className={classes({ num: isNumber, 'hide-s': isExtra })}>
                {isUnlabelled ? <span className="vh">{label}</span> : label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} className={selected !== undefined && rowKey(row) === selected ? 'on' : undefined}>
              {selection && <SelectRow selection={selection} row={row} id={rowKey(row)} />}
              {columns.map((column, index) => {
                const { id, isNumber, isExtra, isWide } = column
                const className = classes({ num: isNumber, 'hide-s': isExtra, wide: isWide })
                return index === 0 ? (
                  <th key={id} scope="row" className={className}>
                    <Cell column={column} row={row} />
                  </th>
                ) : (
                  <td key={id} className={className}>
                    <Cell column={column} row={row} />
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Cell<T>({ column: { cell, text }, row }: { column: Column<T>; row: T }) {
  if (cell) return cell(row)
  const shown = text(row)
  return shown === null || shown === undefined || shown === '' ? <span className="quiet">–</span> : shown
}

const classes = (names: Record<string, boolean | undefined>) =>
  Object.keys(names)
    .filter((name) => names[name])
    .join(' ') || undefined

/** The footer of a table: the number of rows, and buttons for the other pages. */
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
