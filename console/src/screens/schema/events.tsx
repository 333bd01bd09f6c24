import type { components } from '@carillon/sdk'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../parts/data.ts'
import type { Column } from '../../parts/data-table.tsx'
import { SearchTable } from '../../parts/list-page.tsx'
import { Num } from '../../parts/number.tsx'
import { Card } from '../../parts/page.tsx'
import type { ListSearch } from '../../parts/paging.ts'
import { Time } from '../../parts/time.tsx'

type SchemaEvent = components['schemas']['SchemaEvent']

type Props = { search: ListSearch; onSearch: (search: ListSearch, replace: boolean) => void }

/** The events that occurred, with their number and the attributes of the latest. */
export function Events({ search, onSearch }: Props) {
  const { t } = useTranslation('schema')
  const events = useRead('/api/client/schema/events', { query: { ...search, limit: 50 } }, { keepsPrevious: true })
  const columns: Column<SchemaEvent>[] = [
    {
      id: 'name',
      label: t('column.name'),
      cell: ({ name, attributes }) => (
        <>
          <code>{name}</code>
          <span className="r">{attributes.map(({ key, types }) => `${key} (${types.join(', ')})`).join(' · ')}</span>
        </>
      ),
    },
    { id: 'count', label: t('column.count'), isNumber: true, cell: ({ count }) => <Num value={count} /> },
    { id: 'seen', label: t('column.seen'), isNumber: true, isExtra: true, cell: ({ last_seen }) => <Time at={last_seen} /> },
  ]
  return (
    <Card>
      <SearchTable
        label={t('view.events')}
        columns={columns}
        rows={events}
        rowKey={({ name }) => name}
        search={search}
        onSearch={onSearch}
        searchLabel={t('search')}
        empty={t('events.empty')}
      />
    </Card>
  )
}
