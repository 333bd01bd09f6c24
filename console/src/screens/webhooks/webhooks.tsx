import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { AddButton } from '../../parts/add-button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { useRead } from '../../parts/data.ts'
import { ListPage } from '../../parts/list-page.tsx'
import { Num } from '../../parts/number.tsx'
import type { SavedColumn } from '../../parts/save-rows.ts'
import { Time } from '../../parts/time.tsx'
import { useMay, useProject } from '../../session/project.tsx'
import { AttemptBars } from './attempt-hours.tsx'
import { CreateEndpoint } from './endpoint-form.tsx'
import { ATTEMPTS, type Attempts, ENDPOINTS, type Endpoint } from './search.ts'

const route = getRouteApi('/member/p/$project/webhooks')

/** The webhook endpoints of the project. */
export function Webhooks() {
  const { t } = useTranslation('webhooks')
  const search = route.useSearch()
  const mayCreate = useMay('admin')
  const [isCreating, setCreating] = useState(false)
  const query = { ...search, limit: 50 }
  const endpoints = useRead(ENDPOINTS, { query }, { keepsPrevious: true })
  const attempts = useRead(ATTEMPTS, undefined)
  return (
    <>
      <ListPage
        texts="webhooks"
        request={{ path: ENDPOINTS, query }}
        columns={useColumns(attempts.data)}
        rows={endpoints}
        search={search}
        action={mayCreate && <AddButton onClick={() => setCreating(true)}>{t('create.open')}</AddButton>}
      />
      <CreateEndpoint isOpen={isCreating} onClose={() => setCreating(false)} />
    </>
  )
}

function useColumns(attempts: Attempts | undefined): SavedColumn<Endpoint>[] {
  const { t } = useTranslation('webhooks')
  const project = String(useProject().id)
  const hours = new Map(attempts?.endpoints.map(({ endpoint_id, hours }) => [endpoint_id, hours]))
  return [
    {
      id: 'name',
      label: t('column.name'),
      text: ({ name }) => name,
      also: [{ label: t('csv.url'), text: ({ url }) => url }],
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
      text: ({ status }) => status,
      also: [{ label: t('csv.reason'), text: ({ disabled_reason }) => disabled_reason }],
      isWide: true,
      cell: ({ status, disabled_reason }) => (
        <>
          <Chip state={status} />
          {disabled_reason && <span className="r">{disabled_reason}</span>}
        </>
      ),
    },
    {
      id: 'attempts',
      label: t('column.day'),
      hasNoData: true,
      isWide: true,
      cell: ({ id }) => attempts && <AttemptBars firstHour={attempts.first_hour} hours={hours.get(id) ?? []} />,
    },
    {
      id: 'events',
      label: t('column.events'),
      text: ({ event_types }) => event_types.length,
      isNumber: true,
      isExtra: true,
      cell: ({ event_types }) => <Num value={event_types.length} />,
    },
    {
      id: 'updated',
      label: t('column.updated'),
      text: ({ updated_at }) => updated_at,
      isNumber: true,
      isExtra: true,
      cell: ({ updated_at }) => <Time at={updated_at} />,
    },
  ]
}
