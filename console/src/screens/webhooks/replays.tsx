import type { components } from '@carillon/sdk'
import { Button, Modal, Switch, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { useRead, useWrite } from '../../parts/data.ts'
import type { Column } from '../../parts/data-table.tsx'
import { Failed } from '../../parts/failed.tsx'
import { FormButtons } from '../../parts/form-buttons.tsx'
import { SearchTable } from '../../parts/list-page.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { Num } from '../../parts/number.tsx'
import { Card } from '../../parts/page.tsx'
import { instant, Time } from '../../parts/time.tsx'
import { said } from '../../parts/toast.ts'
import { useMay, useProject } from '../../session/project.tsx'
import { ENDPOINTS, type Endpoint, type EndpointSearch, REPLAYS } from './search.ts'

type Replay = components['schemas']['WebhookReplay']
type Input = components['schemas']['WebhookReplayInput']

/** The replays of an endpoint with their progress. */
export function Replays({ endpoint, search }: { endpoint: Endpoint; search: Omit<EndpointSearch, 'view'> }) {
  const { t } = useTranslation('webhooks')
  const navigate = useNavigate({ from: '/p/$project/webhooks/$endpointId' })
  const mayReplay = useMay('admin') && endpoint.status === 'active'
  const [isOpen, setOpen] = useState(false)
  const { delivery: _, q: __, ...paging } = search
  const replays = useRead(
    REPLAYS,
    { path: { endpointId: endpoint.id }, query: { ...paging, limit: 25 } },
    {
      keepsPrevious: true,
      refetchInterval: ({ state }) => (state.data?.results.some(({ status }) => status === 'running') ? LIVE_MS : false),
    },
  )
  return (
    <Card
      title={t('view.replays')}
      actions={
        mayReplay && (
          <Button size="xs" variant="default" onClick={() => setOpen(true)}>
            {t('replay.open')}
          </Button>
        )
      }
    >
      <SearchTable
        label={t('view.replays')}
        columns={useColumns()}
        rows={replays}
        search={paging}
        onSearch={(search, replace) => void navigate({ search: { ...search, view: 'replays' }, replace })}
        empty={t('replay.empty')}
      />
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title={t('replay.title', { name: endpoint.name })}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <Form endpointId={endpoint.id} onClose={() => setOpen(false)} />
      </Modal>
    </Card>
  )
}

function useColumns(): Column<Replay>[] {
  const { t, i18n } = useTranslation('webhooks')
  const { timezone: zone } = useProject()
  return [
    {
      id: 'period',
      label: t('replay.period'),
      cell: ({ since, until, unaccepted_only, event_types }) => (
        <>
          {instant(i18n.language, { at: since, zone })} – {instant(i18n.language, { at: until, zone })}
          <span className="r">
            {t('events.chosen', { count: event_types.length })}
            {unaccepted_only && ` · ${t('replay.unaccepted')}`}
          </span>
        </>
      ),
    },
    { id: 'status', label: t('column.status'), cell: ({ status }) => <Chip state={status} /> },
    { id: 'deliveries', label: t('replay.queued'), isNumber: true, cell: ({ deliveries }) => <Num value={deliveries} /> },
    { id: 'at', label: t('column.created'), isNumber: true, isExtra: true, cell: ({ created_at }) => <Time at={created_at} /> },
  ]
}

/** Chooses the time from which on events are delivered again. */
function Form({ endpointId, onClose }: { endpointId: number; onClose: () => void }) {
  const { t } = useTranslation('webhooks')
  const [since, setSince] = useState('')
  const [until, setUntil] = useState('')
  const [unaccepted_only, setUnaccepted] = useState(true)
  const start = useWrite(
    (api, body: Input) => api.post(REPLAYS, { path: { endpointId }, body }),
    [ENDPOINTS],
    () => {
      onClose()
      said(t('replay.done'))
    },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const at = (text: string) => new Date(text).toISOString()
    start.mutate({ since: at(since), ...(until !== '' && { until: at(until) }), unaccepted_only })
  }
  return (
    <form className="form" onSubmit={submit}>
      {start.error && <Failed error={start.error} />}
      <TextInput
        type="datetime-local"
        label={t('replay.since')}
        description={t('replay.about')}
        required
        value={since}
        onChange={(event) => setSince(event.currentTarget.value)}
      />
      <TextInput
        type="datetime-local"
        label={t('replay.until')}
        description={t('replay.untilAbout')}
        value={until}
        onChange={(event) => setUntil(event.currentTarget.value)}
      />
      <Switch
        label={t('replay.unaccepted')}
        description={t('replay.unacceptedAbout')}
        checked={unaccepted_only}
        onChange={(event) => setUnaccepted(event.currentTarget.checked)}
      />
      <FormButtons onCancel={onClose} isPending={start.isPending} disabled={since === ''}>
        {t('replay.submit')}
      </FormButtons>
    </form>
  )
}
