import type { CarillonError } from '@carillon/sdk'
import { Menu } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { CopyAs } from './copy-as.tsx'
import { type Column, DataTable, type Selection } from './data-table.tsx'
import { Empty, NoMatch } from './empty.tsx'
import { Failed } from './failed.tsx'
import { type Filter, FilterChips, SearchBox } from './filters.tsx'
import { Card, PageHead } from './page.tsx'
import type { ListSearch, Paged } from './paging.ts'
import { type ListRequest, type SavedColumn, useSaveRows } from './save-rows.ts'

type TableProps<T, S extends ListSearch> = {
  /** What is listed, for screen readers. */
  label: string
  columns: Column<T>[]
  rows: UseQueryResult<Paged<T>, CarillonError>
  /** Left out for rows that have an `id`. */
  rowKey?: (row: T) => string | number
  /** One sentence in place of the table while there is nothing to list. */
  empty: ReactNode
  emptyActions?: ReactNode
  /** The search, the filters and the page of the address, and nothing else of it. */
  search: S
  /** Goes to another search. A page is a step of the browser’s history, a search or filter replaces the last one. */
  onSearch: (search: S, replace: boolean) => void
  /** Left out where the API has no search. */
  searchLabel?: string
  searchExample?: string
  filters?: Filter[]
  /** Filters that the screen draws itself. */
  chips?: ReactNode
  /** Beside the search and the filters. */
  tools?: ReactNode
  selected?: string | number | undefined
  selection?: Selection<T> | undefined
}

const idOf = (row: object) => (row as { id: string | number }).id

/** A list of the API with its search, filters and pages, which are in the address, and its states: loading, failed, empty, no match. */
export function SearchTable<T extends object, S extends ListSearch>({
  label,
  columns,
  rows,
  rowKey = idOf,
  empty,
  emptyActions,
  search,
  onSearch,
  searchLabel,
  searchExample,
  filters = [],
  chips,
  tools,
  selected,
  selection,
}: TableProps<T, S>) {
  const { cursor: _, page: __, ...chosen } = search as ListSearch & Record<string, string | undefined>
  const go = (search: ListSearch, replace: boolean) => onSearch(search as S, replace)
  const choose = (id: string, value: string | undefined) => {
    const { [id]: _, ...others } = chosen
    go({ ...others, ...(value && { [id]: value }) }, true)
  }
  const isFiltered = Object.keys(chosen).length > 0
  return (
    <>
      {(searchLabel !== undefined || filters.length > 0) && (
        <div className="tools">
          {searchLabel !== undefined && (
            <SearchBox
              label={searchLabel}
              {...(searchExample !== undefined && { example: searchExample })}
              value={chosen.q ?? ''}
              onChange={(q) => choose('q', q)}
            />
          )}
          {filters.length > 0 && <FilterChips filters={filters} chosen={chosen} onChange={choose} />}
          {chips}
          {tools && <div className="end">{tools}</div>}
        </div>
      )}
      <DataTable
        label={label}
        columns={columns}
        query={rows}
        rowKey={rowKey}
        selected={selected}
        selection={selection}
        empty={isFiltered ? <NoMatch onClear={() => go({}, true)} /> : <Empty actions={emptyActions}>{empty}</Empty>}
        onPage={(paging) => go({ ...chosen, ...paging }, false)}
      />
    </>
  )
}

type PageProps<T, S extends ListSearch> = Omit<TableProps<T, S>, 'label' | 'columns' | 'empty' | 'onSearch' | 'searchLabel'> & {
  /** The namespace whose `title`, `about`, `more`, `search` and `empty` are the texts of the screen. */
  texts: string
  /** For lists that the API cannot search. */
  hasNoSearch?: boolean
  /** For screens whose address has more than the search: without it, the search becomes the address. */
  onSearch?: (search: S, replace: boolean) => void
  columns: SavedColumn<T>[]
  request: ListRequest
  /** The button that adds to the list. It stands in an empty list too, unless that has others. */
  action?: ReactNode
  /** What is open of the list, beside it. */
  beside?: ReactNode
}

/** The screen of a list: its heading, its rows as a file and its request as code, and the table. */
export function ListPage<T extends { id: string | number }, S extends ListSearch>({
  texts,
  hasNoSearch = false,
  onSearch,
  request,
  action,
  beside,
  columns,
  emptyActions = action,
  ...table
}: PageProps<T, S>) {
  const { t } = useTranslation()
  const { t: own } = useTranslation(texts)
  const navigate = useNavigate()
  const save = useSaveRows(request, columns)
  return (
    <>
      <PageHead
        title={own('title')}
        about={own('about')}
        actions={
          <>
            <CopyAs label={own('more')} request={{ method: 'GET', ...request }} isPending={save.isPending}>
              <Menu.Item onClick={() => save.mutate()}>{t('csv.save')}</Menu.Item>
            </CopyAs>
            {action}
          </>
        }
      />
      {save.error && <Failed error={save.error} onRetry={() => save.mutate()} />}
      <div className={beside ? 'beside' : undefined}>
        <Card>
          <SearchTable
            label={own('title')}
            columns={columns}
            onSearch={onSearch ?? ((search, replace) => void navigate({ to: '.', search: search as never, replace }))}
            empty={own('empty')}
            emptyActions={emptyActions}
            {...(!hasNoSearch && { searchLabel: own('search') })}
            {...table}
          />
        </Card>
        {beside}
      </div>
    </>
  )
}
