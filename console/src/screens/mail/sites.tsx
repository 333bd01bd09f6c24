import { Button } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { useRead } from '../../parts/data.ts'
import type { Column } from '../../parts/data-table.tsx'
import { Failed } from '../../parts/failed.tsx'
import { SearchTable } from '../../parts/list-page.tsx'
import { Num, Rate } from '../../parts/number.tsx'
import { Card } from '../../parts/page.tsx'
import type { ListSearch } from '../../parts/paging.ts'
import { useMay, useProject } from '../../session/project.tsx'
import { SiteLimits } from './limits.tsx'
import { useHeld, usePauseWrite } from './pauses.tsx'
import { SITES, type Site } from './search.ts'

/** The sites that email goes to, with the results of the attempts of the last 24 hours. */
export function Sites({ search: { q, cursor, page } }: { search: ListSearch }) {
  const { t } = useTranslation('mail')
  const navigate = useNavigate({ from: '/p/$project/mail-queue' })
  const [limited, setLimited] = useState<Site | null>(null)
  const pause = usePauseWrite('pause')
  const search = { ...(q && { q }), ...(cursor && { cursor }), ...(page && { page }) }
  const sites = useRead(SITES, { query: { ...search, limit: 50 } }, { keepsPrevious: true })
  return (
    <Card>
      {pause.error && <Failed error={pause.error} />}
      <SearchTable
        label={t('view.sites')}
        columns={useColumns({ onLimit: setLimited, onPause: ({ site }) => pause.mutate({ site }) })}
        rows={sites}
        rowKey={({ site }) => site}
        search={search}
        onSearch={(search, replace) => void navigate({ search: { ...search, view: 'sites' }, replace })}
        searchLabel={t('sites.search')}
        empty={t('sites.empty')}
      />
      <SiteLimits key={limited?.site} site={limited} onClose={() => setLimited(null)} />
    </Card>
  )
}

type Actions = { onLimit: (site: Site) => void; onPause: (site: Site) => void }

function useColumns({ onLimit, onPause }: Actions): Column<Site>[] {
  const { t } = useTranslation('mail')
  const project = String(useProject().id)
  const mayLimit = useMay('admin')
  const mayPause = useMay('publisher')
  const heldOf = useHeld()
  const attempts = ({ last_24_hours: { delivered, deferred, bounced } }: Site) => delivered + deferred + bounced
  const actions: Column<Site> = {
    id: 'actions',
    label: t('column.actions'),
    isUnlabelled: true,
    isNumber: true,
    isWide: true,
    cell: (row) => (
      <span className="acts">
        {mayLimit && (
          <Button size="xs" variant="default" aria-label={t('limits.of', { site: row.label })} onClick={() => onLimit(row)}>
            {t('limits.open')}
          </Button>
        )}
        {heldOf(row.site) !== 'site' && (
          <Button size="xs" variant="default" aria-label={t('pause.thisSite', { site: row.label })} onClick={() => onPause(row)}>
            {t('pause.short')}
          </Button>
        )}
      </span>
    ),
  }
  return [
    {
      id: 'site',
      label: t('column.site'),
      cell: ({ site, label, last_reply }) => (
        <>
          <Link className="plain" to="/p/$project/mail-queue" params={{ project }} search={{ site }}>
            {label}
          </Link>
          {last_reply && <span className="r">{last_reply}</span>}
        </>
      ),
    },
    {
      id: 'state',
      label: t('column.state'),
      cell: ({ site, state, state_reason }) => <Chip state={heldOf(site) ? 'paused' : state} reason={state_reason} />,
    },
    {
      id: 'delivered',
      label: t('sites.delivered'),
      isNumber: true,
      isExtra: true,
      cell: ({ last_24_hours }) => <Num value={last_24_hours.delivered} />,
    },
    {
      id: 'deferred',
      label: t('sites.deferred'),
      isNumber: true,
      isExtra: true,
      cell: (row) => <Rate part={row.last_24_hours.deferred} whole={attempts(row)} />,
    },
    {
      id: 'bounced',
      label: t('sites.bounced'),
      isNumber: true,
      isExtra: true,
      cell: (row) => <Rate part={row.last_24_hours.bounced} whole={attempts(row)} />,
    },
    ...(mayPause ? [actions] : []),
  ]
}
