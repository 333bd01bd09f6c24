import { Button } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { useRead, useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Card, PageHead } from '../../parts/page.tsx'
import { TabBar } from '../../parts/tabs.tsx'
import { said } from '../../parts/toast.ts'
import { useMay } from '../../session/project.tsx'
import { EndpointActions } from './actions.tsx'
import { Deliveries } from './deliveries.tsx'
import { SubscribedEvents } from './event-picker.tsx'
import { Replays } from './replays.tsx'
import { ENDPOINT, ENDPOINTS, type Endpoint, VIEWS, type View } from './search.ts'

const route = getRouteApi('/member/p/$project/webhooks/$endpointId')

/** One webhook endpoint: its deliveries, its replays and the events that it gets. */
export function EndpointPage() {
  const { t } = useTranslation('webhooks')
  const endpointId = Number(route.useParams().endpointId)
  const { view = 'deliveries', ...search } = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/webhooks/$endpointId' })
  const { data: endpoint, error, refetch } = useRead(ENDPOINT, { path: { endpointId } })
  if (error && !endpoint) return <Failed error={error} onRetry={() => void refetch()} />
  if (!endpoint) return <Loading />
  return (
    <>
      <PageHead
        title={endpoint.name}
        crumb={endpoint.name}
        about={
          <>
            <code>{endpoint.url}</code>
            {endpoint.description && <span className="r">{endpoint.description}</span>}
          </>
        }
        actions={
          <>
            <Chip state={endpoint.status} />
            <EndpointActions key={endpointId} endpoint={endpoint} />
          </>
        }
      />
      {endpoint.status !== 'active' && <Stopped endpoint={endpoint} />}
      <TabBar
        label={t('views')}
        tabs={VIEWS.map((id) => ({ id, label: t(`view.${id}`) }))}
        current={view}
        onChange={(id) => void navigate({ search: id === 'deliveries' ? {} : { view: id as View }, replace: true })}
      />
      <div className="after">
        {view === 'deliveries' && <Deliveries endpoint={endpoint} search={search} />}
        {view === 'replays' && <Replays endpoint={endpoint} search={search} />}
        {view === 'events' && (
          <Card title={t('events.heading')} aside={t('events.chosen', { count: endpoint.event_types.length })}>
            <SubscribedEvents types={endpoint.event_types} />
          </Card>
        )}
      </div>
    </>
  )
}

/** Says why an endpoint gets no events, and resumes it. */
function Stopped({ endpoint: { id, name, status, disabled_reason } }: { endpoint: Endpoint }) {
  const { t } = useTranslation('webhooks')
  const mayChange = useMay('admin')
  const resume = useWrite(
    (api) => api.patch(ENDPOINT, { path: { endpointId: id }, body: { status: 'active' } }),
    [ENDPOINTS],
    () => said(t('resume.done', { name })),
  )
  return (
    <div className={`say gap-below ${status === 'disabled' ? 'bad' : 'wait'}`}>
      <IconAlertTriangle size={16} stroke={1.5} aria-hidden />
      <div>
        <p>
          <b>{t(`stopped.${status}`)}</b> {disabled_reason}
        </p>
        <p>{t('stopped.about')}</p>
        {resume.error && <Failed error={resume.error} />}
        {mayChange && (
          <Button size="xs" mt="xs" loading={resume.isPending} onClick={() => resume.mutate(undefined)}>
            {t('resume.action')}
          </Button>
        )}
      </div>
    </div>
  )
}
