import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { AddButton } from '../../parts/add-button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { useRead } from '../../parts/data.ts'
import type { Column } from '../../parts/data-table.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { Num } from '../../parts/number.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay, useProject } from '../../session/project.tsx'
import { CreateJourney } from './create-journey.tsx'
import { JOURNEYS, type Journey } from './search.ts'

const route = getRouteApi('/member/p/$project/journeys')

/** The journeys of the project, with their states and how many users are inside. */
export function Journeys() {
  const { t } = useTranslation('journeys')
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/journeys' })
  const mayWrite = useMay('editor')
  const [isCreating, setCreating] = useState(false)
  const query = { ...search, limit: 50, sort: 'updated_at' as const, direction: 'desc' as const }
  const journeys = useRead(JOURNEYS, { query }, { keepsPrevious: true, refetchInterval: 5 * LIVE_MS })
  const create = mayWrite && <AddButton onClick={() => setCreating(true)}>{t('create.open')}</AddButton>
  return (
    <>
      <ListPage
        title={t('title')}
        about={t('about')}
        more={t('more')}
        request={{ path: JOURNEYS, query }}
        columns={useColumns()}
        rows={journeys}
        search={search}
        onSearch={(search, replace) => void navigate({ search, replace })}
        searchLabel={t('search')}
        empty={t('empty')}
        action={create}
        emptyActions={create}
      />
      <CreateJourney isOpen={isCreating} onClose={() => setCreating(false)} />
    </>
  )
}

function useColumns(): Column<Journey>[] {
  const { t } = useTranslation('journeys')
  const project = String(useProject().id)
  const count = (id: 'entered' | 'active' | 'completed' | 'exited', isExtra = false): Column<Journey> => ({
    id,
    label: t(`column.${id}`),
    isNumber: true,
    isExtra,
    cell: ({ stats }) => <Num value={stats[id] ?? 0} />,
  })
  return [
    {
      id: 'name',
      label: t('column.name'),
      cell: ({ id, name, description, tags }) => (
        <>
          <Link className="plain" to="/p/$project/journeys/$journeyId" params={{ project, journeyId: String(id) }}>
            {name}
          </Link>
          <span className="r">{description ?? tags.join(', ')}</span>
        </>
      ),
    },
    {
      id: 'status',
      label: t('column.status'),
      cell: ({ status, is_held, live_version }) => (
        <>
          <span className="chips">
            <Chip state={status} /> {is_held && <Chip state="paused" />}
          </span>
          {live_version !== undefined && <span className="r">{t('version', { version: live_version })}</span>}
        </>
      ),
    },
    count('entered'),
    count('active'),
    count('completed', true),
    count('exited', true),
    { id: 'changed', label: t('column.changed'), isNumber: true, isExtra: true, cell: ({ updated_at }) => <Time at={updated_at} /> },
  ]
}
