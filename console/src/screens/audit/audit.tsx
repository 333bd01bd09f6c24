import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../parts/data.ts'
import type { Filter } from '../../parts/filters.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { usePeriodFilter, useSince } from '../../parts/period.ts'
import { returnFocus } from '../../parts/return-focus.ts'
import type { SavedColumn } from '../../parts/save-rows.ts'
import { Time } from '../../parts/time.tsx'
import type { Entry } from './changes.ts'
import { CheckChain } from './check-chain.tsx'
import { EntryDrawer } from './entry-drawer.tsx'
import './audit.css'
import { ACTORS, type Filters, OBJECTS, WAYS } from './search.ts'

const route = getRouteApi('/member/p/$project/audit')
const PATH = '/api/client/audit'

/** Where the focus returns when the drawer closes. */
const linkId = (id: number) => `entry-${id}`

/** Who changed what in the configuration, and when. */
export function AuditLog() {
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/audit' })
  const { entry: id, ...shown } = search
  const { period, ...rest } = shown
  const since = useSince(period)
  const query = { ...rest, ...(since && { since }), limit: 50 }
  const entries = useRead(PATH, { query }, { keepsPrevious: true })
  const entry = entries.data?.results.find((entry) => entry.id === id)
  const close = () => {
    void navigate({ search: ({ entry: _, ...others }) => others, replace: true })
    if (id !== undefined) returnFocus(linkId(id))
  }
  return (
    <ListPage
      texts="audit"
      hasNoSearch
      request={{ path: PATH, query }}
      columns={useColumns(entry !== undefined)}
      rows={entries}
      search={shown}
      filters={useFilters(shown)}
      selected={id}
      action={<CheckChain />}
      emptyActions={null}
      beside={entry && <EntryDrawer key={entry.id} entry={entry} onClose={close} />}
    />
  )
}

/** The filters with fixed values, and of the others those that are set. */
function useFilters(chosen: Filters): Filter[] {
  const { t } = useTranslation('audit')
  const period = usePeriodFilter()
  const fixed: Filter[] = [
    { id: 'object_type', label: t('filter.object_type'), values: OBJECTS.map((value) => ({ value, label: value })) },
    { id: 'actor_type', label: t('filter.actor_type'), values: ACTORS.map((value) => ({ value, label: t(`actor.${value}`) })) },
    { id: 'via', label: t('filter.via'), values: WAYS.map((value) => ({ value, label: t(`via.${value}`) })) },
    period,
  ]
  const free = (['object_id', 'actor_id', 'action'] as const).filter((id) => chosen[id] !== undefined)
  return [...fixed, ...free.map((id) => ({ id, label: t(`filter.${id}`), values: [] }))]
}

function useColumns(isBeside: boolean): SavedColumn<Entry>[] {
  const { t } = useTranslation('audit')
  const columns: SavedColumn<Entry>[] = [
    {
      id: 'action',
      label: t('column.action'),
      text: ({ action }) => action,
      also: [
        { label: t('filter.object_type'), text: ({ object }) => object.type },
        { label: t('filter.object_id'), text: ({ object }) => object.id },
        { label: t('csv.name'), text: ({ object }) => object.name },
      ],
      cell: ({ id, action, object }) => (
        <>
          <Link id={linkId(id)} className="plain" from="/p/$project/audit" search={(search) => ({ ...search, entry: id })}>
            <code>{action}</code>
          </Link>
          <span className="r cut">{object.name ?? object.id ?? object.type}</span>
        </>
      ),
    },
    {
      id: 'actor',
      label: t('column.actor'),
      text: ({ actor }) => actor.name ?? t(`actor.${actor.type}`),
      also: [{ label: t('filter.actor_type'), text: ({ actor }) => t(`actor.${actor.type}`) }],
      cell: ({ actor }) => (
        <>
          {actor.name ?? t(`actor.${actor.type}`)}
          {actor.name !== null && <span className="r">{t(`actor.${actor.type}`)}</span>}
        </>
      ),
      isWide: true,
    },
    { id: 'via', label: t('column.via'), text: ({ via }) => t(`via.${via}`), isExtra: true },
    {
      id: 'at',
      label: t('column.at'),
      text: ({ created_at }) => created_at,
      cell: ({ created_at }) => <Time at={created_at} />,
      isNumber: true,
    },
  ]
  return isBeside ? columns.filter(({ id }) => id !== 'via') : columns
}
