import type { CarillonError } from '@carillon/sdk'
import type { UseQueryResult } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { useRead } from '../../parts/data.ts'
import type { Column } from '../../parts/data-table.tsx'
import { SearchTable } from '../../parts/list-page.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { Card } from '../../parts/page.tsx'
import type { Paged } from '../../parts/paging.ts'
import { Time } from '../../parts/time.tsx'
import type { Editing } from './editing.ts'
import { EnterUser } from './enter-user.tsx'
import { type Journey, type JourneyUser, USER_STATES } from './search.ts'
import { UserDrawer } from './user-drawer.tsx'

const route = getRouteApi('/member/p/$project/journeys/$journeyId')

type Row = JourneyUser & { id: string }

/** The users of the journey: who is where, since when, and until when at the latest. */
export function Users({ journey, editing }: { journey: Journey; editing: Editing }) {
  const { t } = useTranslation('journeys')
  const { view: _, shape: __, backtest: ___, user, ...search } = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/journeys/$journeyId' })
  const rows = useRows(journey.id, search)
  const { graph, words, numbers } = editing
  const filters = [
    { id: 'state', label: t('users.state'), values: USER_STATES.map((value) => ({ value, label: value })) },
    {
      id: 'step',
      label: t('users.step'),
      values: Object.entries(graph).map(([value, step]) => ({ value, label: `${numbers.get(value) ?? '–'} ${words(step).title}` })),
    },
  ]
  const open = (user: string) => void navigate({ search: (search) => ({ ...search, user }), replace: true, resetScroll: false })
  return (
    <div className={user === undefined ? 'cols' : 'cols main-side'}>
      <Card title={t('users.heading')} {...(journey.status === 'live' && { actions: <EnterUser journey={journey} onEntered={open} /> })}>
        <SearchTable
          label={t('users.heading')}
          columns={useColumns(editing, open)}
          rows={rows}
          search={search}
          onSearch={(search, replace) =>
            void navigate({ search: { ...search, view: 'users', ...(user !== undefined && { user }) }, replace })
          }
          searchLabel={t('users.search')}
          filters={filters}
          selected={rows.data?.results.find((row) => row.user.external_id === user)?.id}
          empty={t('users.empty')}
        />
      </Card>
      {user !== undefined && <UserDrawer key={user} journey={journey} editing={editing} userId={user} />}
    </div>
  )
}

/** A page of users, each row with an id: a user can be inside several times. */
function useRows(journeyId: number, search: object): UseQueryResult<Paged<Row>, CarillonError> {
  const users = useRead(
    '/api/client/journeys/{journeyId}/users',
    { path: { journeyId }, query: { ...search, limit: 50 } },
    { keepsPrevious: true, refetchInterval: 2 * LIVE_MS },
  )
  const results = users.data?.results.map((user) => ({ ...user, id: `${user.user.id}-${user.entrance_id ?? ''}` }))
  return { ...users, data: users.data && { ...users.data, results } } as UseQueryResult<Paged<Row>, CarillonError>
}

function useColumns({ graph, words }: Editing, open: (user: string) => void): Column<Row>[] {
  const { t } = useTranslation('journeys')
  return [
    {
      id: 'user',
      label: t('users.user'),
      cell: ({ user: { external_id: userId }, key }) => (
        <>
          {userId === null ? (
            <span className="quiet">{t('users.anonymous')}</span>
          ) : (
            <button type="button" className="link" onClick={() => open(userId)} aria-label={t('users.open', { user: userId })}>
              {userId}
            </button>
          )}
          {key !== undefined && <span className="r">{key}</span>}
        </>
      ),
    },
    {
      id: 'state',
      label: t('users.state'),
      cell: ({ state, parked, held }) => (
        <span className="chips">
          <Chip state={state === 'inside' ? 'active' : state} />
          {parked !== undefined && <Chip state="failed" reason={parked} />}
          {held && <Chip state="paused" />}
        </span>
      ),
    },
    {
      id: 'step',
      label: t('users.step'),
      isWide: true,
      cell: ({ step, version }) =>
        step !== undefined && (
          <>
            {graph[step] ? words(graph[step]).title : <code>{step}</code>}
            {version !== undefined && <span className="r">{t('version', { version })}</span>}
          </>
        ),
    },
    {
      id: 'entered',
      label: t('users.entered'),
      isNumber: true,
      isExtra: true,
      cell: ({ entered_at }) => entered_at !== undefined && <Time at={entered_at} />,
    },
    {
      id: 'due',
      label: t('users.due'),
      isNumber: true,
      isExtra: true,
      cell: ({ due_at, ended_at }) => {
        const at = due_at ?? ended_at
        return at !== undefined && <Time at={at} />
      },
    },
  ]
}
