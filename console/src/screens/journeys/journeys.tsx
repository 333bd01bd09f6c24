import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { AddButton } from '../../parts/add-button.tsx'
import { useArchivedColumns, useArchivedFilter } from '../../parts/archived.tsx'
import { archivedQueryOf } from '../../parts/archived-search.ts'
import { Chip } from '../../parts/chip.tsx'
import { useRead } from '../../parts/data.ts'
import { ListPage } from '../../parts/list-page.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { Num } from '../../parts/number.tsx'
import type { SavedColumn } from '../../parts/save-rows.ts'
import { Time } from '../../parts/time.tsx'
import { useMay, useProject } from '../../session/project.tsx'
import { CreateJourney } from './create-journey.tsx'
import { JOURNEYS, type Journey } from './search.ts'

const route = getRouteApi('/member/p/$project/journeys')

/** The journeys of the project, with their states and how many users are inside. */
export function Journeys() {
  const { t } = useTranslation('journeys')
  const { new: isCreating = false, ...search } = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/journeys' })
  const mayWrite = useMay('editor')
  const query = { ...archivedQueryOf(search), limit: 50, sort: 'updated_at' as const, direction: 'desc' as const }
  const journeys = useRead(JOURNEYS, { query }, { keepsPrevious: true, refetchInterval: 5 * LIVE_MS })
  const name = (isNew: boolean) => void navigate({ search: { ...search, ...(isNew && { new: true }) }, replace: true })
  const create = mayWrite && <AddButton onClick={() => name(true)}>{t('create.open')}</AddButton>
  return (
    <>
      <ListPage
        texts="journeys"
        request={{ path: JOURNEYS, query }}
        columns={useColumns(search.show === 'archived')}
        rows={journeys}
        search={search}
        filters={[useArchivedFilter()]}
        action={create}
      />
      <CreateJourney isOpen={isCreating && mayWrite} onClose={() => name(false)} />
    </>
  )
}

function useColumns(isArchived: boolean): SavedColumn<Journey>[] {
  const archived = useArchivedColumns<Journey>('journey', ({ status }) => status === 'draft')
  const { t } = useTranslation('journeys')
  const project = String(useProject().id)
  const count = (id: 'entered' | 'active' | 'completed' | 'exited', isExtra = false): SavedColumn<Journey> => ({
    id,
    label: t(`column.${id}`),
    isNumber: true,
    isExtra,
    text: ({ stats }) => stats[id] ?? 0,
    cell: ({ stats }) => (
      <>
        <Num value={stats[id] ?? 0} />
        <span className="r show-s">{t(`count.${id}`)}</span>
      </>
    ),
  })
  const last: SavedColumn<Journey> = {
    id: 'changed',
    label: t('column.changed'),
    text: ({ updated_at }) => updated_at,
    isNumber: true,
    isExtra: true,
    cell: ({ updated_at }) => <Time at={updated_at} />,
  }
  return [
    {
      id: 'name',
      label: t('column.name'),
      text: ({ name }) => name,
      also: [
        { label: t('csv.id'), text: ({ id }) => id },
        { label: t('csv.description'), text: ({ description }) => description },
        { label: t('csv.tags'), text: ({ tags }) => tags.join(', ') },
      ],
      cell: ({ id, name, description, tags }) => (
        <>
          {isArchived ? (
            name
          ) : (
            <Link className="plain" to="/p/$project/journeys/$journeyId" params={{ project, journeyId: String(id) }}>
              {name}
            </Link>
          )}
          <span className="r">{description ?? tags.join(', ')}</span>
        </>
      ),
    },
    {
      id: 'status',
      label: t('column.status'),
      text: ({ status }) => status,
      also: [
        { label: t('csv.held'), text: ({ is_held }) => t(is_held ? 'rule.yes' : 'rule.no') },
        { label: t('csv.version'), text: ({ live_version }) => live_version },
      ],
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
    ...(isArchived ? archived : [last]),
  ]
}
