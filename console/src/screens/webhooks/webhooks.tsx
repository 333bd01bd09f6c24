import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { AddButton } from '../../parts/add-button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { useRead } from '../../parts/data.ts'
import type { Column } from '../../parts/data-table.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { Num } from '../../parts/number.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay, useProject } from '../../session/project.tsx'
import { CreateEndpoint } from './endpoint-form.tsx'
import { ENDPOINTS, type Endpoint } from './search.ts'

const route = getRouteApi('/member/p/$project/webhooks')

/** The webhook endpoints of the project. */
export function Webhooks() {
  const { t } = useTranslation('webhooks')
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/webhooks' })
  const mayCreate = useMay('admin')
  const [isCreating, setCreating] = useState(false)
  const query = { ...search, limit: 50 }
  const endpoints = useRead(ENDPOINTS, { query }, { keepsPrevious: true })
  return (
    <>
      <ListPage
        title={t('title')}
        about={t('about')}
        more={t('more')}
        request={{ path: ENDPOINTS, query }}
        columns={useColumns()}
        rows={endpoints}
        search={search}
        onSearch={(search, replace) => void navigate({ search, replace })}
        searchLabel={t('search')}
        empty={t('empty')}
        action={mayCreate && <AddButton onClick={() => setCreating(true)}>{t('create.open')}</AddButton>}
      />
      <CreateEndpoint isOpen={isCreating} onClose={() => setCreating(false)} />
    </>
  )
}

function useColumns(): Column<Endpoint>[] {
  const { t } = useTranslation('webhooks')
  const project = String(useProject().id)
  return [
    {
      id: 'name',
      label: t('column.name'),
      cell: ({ id, name, url }) => (
        <>
          <Link className="plain" to="/p/$project/webhooks/$endpointId" params={{ project, endpointId: String(id) }}>
            {name}
          </Link>
          <code className="r">{url}</code>
        </>
      ),
    },
    {
      id: 'status',
      label: t('column.status'),
      isWide: true,
      cell: ({ status, disabled_reason }) => (
        <>
          <Chip state={status} />
          {disabled_reason && <span className="r">{disabled_reason}</span>}
        </>
      ),
    },
    {
      id: 'events',
      label: t('column.events'),
      isNumber: true,
      isExtra: true,
      cell: ({ event_types }) => <Num value={event_types.length} />,
    },
    { id: 'updated', label: t('column.updated'), isNumber: true, isExtra: true, cell: ({ updated_at }) => <Time at={updated_at} /> },
  ]
}
