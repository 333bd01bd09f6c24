import { Button, Group, Menu, Modal, Select } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ConfirmWrite } from '../../parts/confirm-write.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useWrite } from '../../parts/data.ts'
import { useErrorSince } from '../../parts/error-since.ts'
import { Failed } from '../../parts/failed.tsx'
import { FormButtons } from '../../parts/form-buttons.tsx'
import { SecretDialog } from '../../parts/shown-once.tsx'
import { useMay, useProject } from '../../session/project.tsx'
import { EditEndpoint, SECRET_VARIABLE } from './endpoint-form.tsx'
import { EVENT_TYPES } from './event-types.ts'
import { ENDPOINT, ENDPOINTS, type Endpoint, type EventType } from './search.ts'

type Open = 'edit' | 'test' | 'rotate' | 'pause' | 'delete' | null

/** The actions of admins on an endpoint, and the request behind the endpoint as code. */
export function EndpointActions({ endpoint }: { endpoint: Endpoint }) {
  const { t } = useTranslation('webhooks')
  const mayChange = useMay('admin')
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const { id, name, status } = endpoint
  return (
    <>
      {mayChange && status === 'active' && (
        <Button variant="default" onClick={() => setOpen('test')}>
          {t('test.open')}
        </Button>
      )}
      {mayChange && (
        <Button variant="default" aria-keyshortcuts="e" onClick={() => setOpen('edit')}>
          {t('edit.open')}
        </Button>
      )}
      <CopyAs
        label={t('moreOf', { name })}
        request={{ method: 'GET', path: ENDPOINT, params: { endpointId: id } }}
        audited={{ type: 'webhook', id }}
      >
        {mayChange && <Menu.Item onClick={() => setOpen('rotate')}>{t('rotate.open')}</Menu.Item>}
        {mayChange && status === 'active' && <Menu.Item onClick={() => setOpen('pause')}>{t('pause.open')}</Menu.Item>}
        {mayChange && (
          <Menu.Item color="ember" onClick={() => setOpen('delete')}>
            {t('delete.open')}
          </Menu.Item>
        )}
      </CopyAs>
      <EditEndpoint endpoint={endpoint} isOpen={open === 'edit'} onClose={close} />
      <SendTest endpoint={endpoint} isOpen={open === 'test'} onClose={close} />
      <Rotate endpoint={endpoint} isOpen={open === 'rotate'} onClose={close} />
      <Pause endpoint={endpoint} isOpen={open === 'pause'} onClose={close} />
      <Delete endpoint={endpoint} isOpen={open === 'delete'} onClose={close} />
    </>
  )
}

type Props = { endpoint: Endpoint; isOpen: boolean; onClose: () => void }

/** Sends the sample of an event type, and opens its delivery. */
function SendTest({ endpoint: { id, name, event_types }, isOpen, onClose }: Props) {
  const { t } = useTranslation('webhooks')
  const navigate = useNavigate({ from: '/p/$project/webhooks/$endpointId' })
  const [type, setType] = useState<EventType | undefined>(event_types[0])
  const send = useWrite(
    (api, event_type: EventType) => api.post('/api/client/webhooks/{endpointId}/test', { path: { endpointId: id }, body: { event_type } }),
    [ENDPOINTS],
    ({ delivery_id }) => {
      onClose()
      void navigate({ search: { delivery: delivery_id } })
    },
  )
  const error = useErrorSince(isOpen, send.error)
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('test.title', { name })} closeButtonProps={{ 'aria-label': t('close') }}>
      <div className="form">
        {error && <Failed error={error} />}
        <Select
          label={t('test.type')}
          description={t('test.about')}
          data={EVENT_TYPES}
          value={type ?? null}
          searchable
          allowDeselect={false}
          onChange={(next) => setType((next as EventType | null) ?? undefined)}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button loading={send.isPending} disabled={type === undefined} onClick={() => type && send.mutate(type)}>
            {t('test.submit')}
          </Button>
        </Group>
      </div>
    </Modal>
  )
}

/** For how many seconds the old secret may go on signing. */
const GRACE_PERIODS = ['0', '3600', '86400', '604800'] as const

/** Replaces the signing secret, and shows the new one once. */
function Rotate({ endpoint: { id, name }, isOpen, onClose }: Props) {
  const { t } = useTranslation('webhooks')
  const [grace, setGrace] = useState<string>('86400')
  const rotate = useWrite(
    (api, grace_period_seconds: number) =>
      api.post('/api/client/webhooks/{endpointId}/rotate-secret', { path: { endpointId: id }, body: { grace_period_seconds } }),
    [ENDPOINTS],
  )
  const close = () => {
    onClose()
    rotate.reset()
  }
  return (
    <SecretDialog
      isOpen={isOpen}
      onClose={close}
      title={rotate.data ? t('secret.title') : t('rotate.title', { name })}
      isPending={rotate.isPending}
      secret={rotate.data && { about: t('secret.about'), value: rotate.data.signing_secret, variable: SECRET_VARIABLE }}
    >
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          rotate.mutate(Number(grace))
        }}
      >
        {rotate.error && <Failed error={rotate.error} />}
        <Select
          label={t('rotate.grace')}
          description={t('rotate.about')}
          data={GRACE_PERIODS.map((value) => ({ value, label: t(`rotate.for.${value}`) }))}
          value={grace}
          allowDeselect={false}
          onChange={(next) => next && setGrace(next)}
        />
        <FormButtons onCancel={close} isPending={rotate.isPending} isHeld>
          {t('rotate.submit')}
        </FormButtons>
      </form>
    </SecretDialog>
  )
}

/** Pausing drops events, so it is confirmed. */
function Pause({ endpoint: { id, name }, isOpen, onClose }: Props) {
  const { t } = useTranslation('webhooks')
  return (
    <ConfirmWrite
      isOpen={isOpen}
      onClose={onClose}
      title={t('pause.title', { name })}
      action={t('pause.action')}
      write={(api) => api.patch(ENDPOINT, { path: { endpointId: id }, body: { status: 'inactive' } })}
      changes={[ENDPOINTS]}
      done={t('pause.done', { name })}
    >
      <p>{t('pause.about')}</p>
    </ConfirmWrite>
  )
}

function Delete({ endpoint: { id, name }, isOpen, onClose }: Props) {
  const { t } = useTranslation('webhooks')
  const navigate = useNavigate()
  const project = String(useProject().id)
  return (
    <ConfirmWrite
      isOpen={isOpen}
      onClose={onClose}
      title={t('delete.title', { name })}
      action={t('delete.action')}
      write={(api) => api.delete(ENDPOINT, { path: { endpointId: id } })}
      changes={[ENDPOINTS]}
      leave={() => navigate({ to: '/p/$project/webhooks', params: { project }, ignoreBlocker: true })}
      done={t('delete.done', { name })}
    >
      <p>{t('delete.about')}</p>
    </ConfirmWrite>
  )
}
