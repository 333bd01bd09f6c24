import type { components } from '@carillon/sdk'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../parts/data.ts'
import type { Column } from '../../parts/data-table.tsx'
import { SearchTable } from '../../parts/list-page.tsx'
import { Num } from '../../parts/number.tsx'
import { Card } from '../../parts/page.tsx'
import type { ListSearch } from '../../parts/paging.ts'
import { returnFocus } from '../../parts/return-focus.ts'
import { Time } from '../../parts/time.tsx'
import { EventDays } from './event-days.tsx'
import { RANGE_DEFAULT, type Range } from './view.ts'

type SchemaEvent = components['schemas']['SchemaEvent']

/** The address: the search and the page of the list, and the event that is open beside it. */
export type EventsSearch = ListSearch & { event?: string; days?: Range }

type Props = { search: EventsSearch; onSearch: (search: EventsSearch, replace: boolean) => void }

/** Where the focus returns when the days of an event are closed. */
const linkId = (name: string) => `event-${name}`

/** The events that occurred, with their number and the attributes of the latest. */
export function Events({ search: { event, days, ...search }, onSearch }: Props) {
  const { t } = useTranslation('schema')
  const events = useRead('/api/client/schema/events', { query: { ...search, limit: 50 } }, { keepsPrevious: true })
  const columns: Column<SchemaEvent>[] = [
    {
      id: 'name',
      label: t('column.name'),
      cell: ({ name, attributes }) => (
        <>
          <Link id={linkId(name)} className="plain" from="/p/$project/schema" search={(before) => ({ ...before, event: name })}>
            <code>{name}</code>
          </Link>
          <span className="r">{attributes.map(({ key, types }) => `${key} (${types.join(', ')})`).join(' · ')}</span>
        </>
      ),
    },
    { id: 'count', label: t('column.count'), isNumber: true, cell: ({ count }) => <Num value={count} /> },
    { id: 'seen', label: t('column.seen'), isNumber: true, isExtra: true, cell: ({ last_seen }) => <Time at={last_seen} /> },
  ]
  const close = () => {
    onSearch(search, true)
    if (event !== undefined) returnFocus(linkId(event))
  }
  return (
    <div className={event === undefined ? undefined : 'beside'}>
      <Card>
        <SearchTable
          label={t('view.events')}
          columns={event === undefined ? columns : columns.filter(({ id }) => id !== 'seen')}
          rows={events}
          rowKey={({ name }) => name}
          search={search}
          onSearch={onSearch}
          searchLabel={t('search')}
          selected={event}
          empty={t('events.empty')}
        />
      </Card>
      {event !== undefined && (
        <EventDays
          key={event}
          name={event}
          range={days ?? RANGE_DEFAULT}
          onRange={(days) => onSearch({ ...search, event, days }, true)}
          onClose={close}
        />
      )}
    </div>
  )
}
