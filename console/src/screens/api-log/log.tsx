import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'

import { useRead } from '../../parts/data.ts'
import type { Filter } from '../../parts/filters.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { useLiveReads } from '../../parts/live/use-live.ts'
import { useOpened } from '../../parts/opened.ts'
import { returnFocus } from '../../parts/return-focus.ts'
import type { SavedColumn } from '../../parts/save-rows.ts'
import { Time } from '../../parts/time.tsx'
import { RequestDrawer } from './drawer.tsx'
import { Result } from './result.tsx'
import { ACTORS, type Filters, METHODS, RESULTS } from './search.ts'
import { type Logged, pathOf } from './shown.ts'

const route = getRouteApi('/member/p/$project/api-log')
const PATH = '/api/client/requests'

/** Where the focus returns when the drawer closes. */
const linkId = (id: number) => `request-${id}`

/** The last requests of the project; new ones appear by themselves. */
export function ApiLog() {
  const { t } = useTranslation('api-log')
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/api-log' })
  const { request: id, ...shown } = search
  const query = { ...shown, limit: 50 }
  const isLive = useLiveReads('requests', PATH)
  const requests = useRead(PATH, { query }, { keepsPrevious: true, refetchInterval: isLive ? false : LIVE_MS })
  const { opened: request } = useOpened(requests.data?.results, (request) => request.id === id)
  const close = () => {
    void navigate({ search: ({ request: _, ...others }) => others, replace: true })
    if (id !== undefined) returnFocus(linkId(id))
  }
  return (
    <ListPage
      texts="api-log"
      request={{ path: PATH, query }}
      columns={useColumns(request !== undefined)}
      rows={requests}
      search={shown}
      searchExample={t('searchExample')}
      filters={useFilters(shown)}
      selected={id}
      beside={request && <RequestDrawer key={request.id} request={request} onClose={close} />}
    />
  )
}

/** The filters with fixed values, and the key or member if one is chosen. */
function useFilters(chosen: Filters): Filter[] {
  const { t } = useTranslation('api-log')
  const fixed: Filter[] = [
    { id: 'status', label: t('filter.status'), values: RESULTS.map((value) => ({ value, label: t(`result.${value}`) })) },
    { id: 'method', label: t('filter.method'), values: METHODS.map((value) => ({ value, label: value })) },
    { id: 'actor_type', label: t('filter.actor_type'), values: ACTORS.map((value) => ({ value, label: t(`actor.${value}`) })) },
    { id: 'is_replay', label: t('filter.is_replay'), values: [{ value: 'true', label: t('yes') }] },
  ]
  return chosen.actor_id === undefined ? fixed : [...fixed, { id: 'actor_id', label: t('filter.actor_id'), values: [] }]
}

function useColumns(isBeside: boolean): SavedColumn<Logged>[] {
  const { t } = useTranslation('api-log')
  const columns: SavedColumn<Logged>[] = [
    {
      id: 'request',
      label: t('column.request'),
      text: (request) => `${request.method} ${pathOf(request)}`,
      also: [{ label: t('column.actor'), text: ({ actor }) => actor.name ?? t(`actor.${actor.type}`) }],
      cell: (request) => (
        <>
          <Link
            id={linkId(request.id)}
            className="plain"
            from="/p/$project/api-log"
            search={(search) => ({ ...search, request: request.id })}
          >
            <code>
              {request.method} {pathOf(request)}
            </code>
          </Link>
          <span className="r">
            {request.actor.name ?? t(`actor.${request.actor.type}`)}
            {request.left_out > 0 && ` · ${t('leftOut', { count: request.left_out })}`}
          </span>
        </>
      ),
    },
    {
      id: 'status',
      label: t('column.status'),
      text: ({ status }) => status,
      also: [
        { label: t('csv.reason'), text: ({ code }) => code },
        { label: t('filter.is_replay'), text: ({ original_request }) => t(original_request === null ? 'rule.no' : 'rule.yes') },
      ],
      cell: (request) => <Result request={request} />,
    },
    {
      id: 'elapsed',
      label: t('column.elapsed'),
      text: ({ elapsed_ms }) => t('milliseconds', { count: elapsed_ms }),
      isNumber: true,
      isExtra: true,
    },
    { id: 'via', label: t('column.via'), text: ({ via }) => t(`via.${via}`), isExtra: true },
    {
      id: 'at',
      label: t('column.at'),
      text: ({ created_at }) => created_at,
      cell: ({ created_at }) => <Time at={created_at} />,
      isNumber: true,
      isWide: true,
    },
  ]
  return isBeside ? columns.filter(({ id }) => ['request', 'status', 'at'].includes(id)) : columns
}
