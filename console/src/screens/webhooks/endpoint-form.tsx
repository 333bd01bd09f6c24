import type { components } from '@carillon/sdk'
import { Modal, Textarea, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { useDraft } from '../../parts/edited.ts'
import { useErrorSince } from '../../parts/error-since.ts'
import { Failed } from '../../parts/failed.tsx'
import { FormButtons } from '../../parts/form-buttons.tsx'
import { changedMembers, mergeItems } from '../../parts/merge.ts'
import { SecretDialog } from '../../parts/shown-once.tsx'
import { said } from '../../parts/toast.ts'
import { useProject } from '../../session/project.tsx'
import { EventPicker } from './event-picker.tsx'
import { ENDPOINT, ENDPOINTS, type Endpoint } from './search.ts'

type Input = components['schemas']['WebhookInput']
type Changes = components['schemas']['WebhookChanges']
/** What was entered, and what the form began with. */
type Edit = { input: Input; begun: Input }
type Created = components['schemas']['WebhookReply']

/** The name of the variable in which the guide keeps the secret. */
export const SECRET_VARIABLE = 'WEBHOOK_SECRET'

const EMPTY: Input = { name: '', url: '', event_types: ['delivery.delivered', 'delivery.dsn-perm-fail', 'delivery.failed'] }

/** Creates an endpoint, and shows its signing secret once. */
export function CreateEndpoint({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation('webhooks')
  const navigate = useNavigate()
  const project = String(useProject().id)
  const [created, setCreated] = useState<Created | null>(null)
  const create = useWrite((api, body: Input) => api.post(ENDPOINTS, { body }), [ENDPOINTS], setCreated)
  const error = useErrorSince(isOpen, create.error)
  const close = () => {
    if (created) void navigate({ to: '/p/$project/webhooks/$endpointId', params: { project, endpointId: String(created.id) } })
    setCreated(null)
    onClose()
  }
  return (
    <SecretDialog
      isOpen={isOpen}
      onClose={close}
      title={t(created ? 'secret.title' : 'create.title')}
      size="xl"
      isPending={create.isPending}
      secret={created ? { about: t('secret.about'), value: created.signing_secret, variable: SECRET_VARIABLE } : undefined}
    >
      <Form
        stored={EMPTY}
        submit={t('create.submit')}
        isPending={create.isPending}
        isHeld
        error={error}
        onSubmit={(input) => create.mutate(input)}
        onClose={close}
      />
    </SecretDialog>
  )
}

/** Changes an endpoint. */
export function EditEndpoint({ endpoint, isOpen, onClose }: { endpoint: Endpoint; isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation('webhooks')
  const { id, name, url, event_types, description = '' } = endpoint
  const stored: Input = { name, url, event_types, description }
  const change = useWrite(
    async (api, { input, begun }: Edit) => {
      const path = { endpointId: id }
      const body = changedMembers(stored, input) as Changes
      if (body.event_types === undefined) return api.patch(ENDPOINT, { path, body })
      const { event_types: now } = await api.get(ENDPOINT, { path })
      return api.patch(ENDPOINT, { path, body: { ...body, event_types: mergeItems(begun.event_types, body.event_types, now) } })
    },
    [ENDPOINTS],
    ({ name }) => {
      onClose()
      said(t('edit.done', { name }))
    },
  )
  const error = useErrorSince(isOpen, change.error)
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('edit.title', { name })} closeButtonProps={{ 'aria-label': t('close') }} size="xl">
      <Form
        stored={stored}
        submit={t('save')}
        isPending={change.isPending}
        error={error}
        onSubmit={(input, begun) => change.mutate({ input, begun })}
        onClose={onClose}
      />
    </Modal>
  )
}

type FormProps = {
  stored: Input
  submit: string
  isPending: boolean
  isHeld?: boolean
  error: unknown
  onSubmit: (input: Input, begun: Input) => void
  onClose: () => void
}

function Form({ stored, submit, isPending, isHeld = false, error, onSubmit, onClose }: FormProps) {
  const { t } = useTranslation('webhooks')
  const [input, setInput] = useDraft(stored)
  const [begun] = useState(stored)
  const set = (changes: Partial<Input>) => setInput((input) => ({ ...input, ...changes }))
  const send = (event: FormEvent) => {
    event.preventDefault()
    onSubmit(input, begun)
  }
  return (
    <form className="form" onSubmit={send}>
      {error !== null && <Failed error={error} />}
      <TextInput
        label={t('column.name')}
        required
        data-autofocus
        value={input.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <TextInput
        type="url"
        label={t('url')}
        description={t('urlAbout')}
        placeholder="https://example.com/hooks/carillon"
        required
        value={input.url}
        onChange={(event) => set({ url: event.currentTarget.value })}
      />
      <Textarea
        label={t('description')}
        autosize
        value={input.description ?? ''}
        onChange={(event) => set({ description: event.currentTarget.value })}
      />
      <h3>{t('events.chosen', { count: input.event_types.length })}</h3>
      <EventPicker value={input.event_types} onChange={(event_types) => set({ event_types })} />
      <FormButtons onCancel={onClose} isPending={isPending} isHeld={isHeld} disabled={input.event_types.length === 0}>
        {submit}
      </FormButtons>
    </form>
  )
}
