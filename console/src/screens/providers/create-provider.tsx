import type { components } from '@carillon/sdk'
import { Modal, Select, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { CHANNELS } from '../../parts/channels.ts'
import { useRead, useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { FormButtons } from '../../parts/form-buttons.tsx'
import { Loading } from '../../parts/loading.tsx'
import { SchemaForm, type Values } from '../../parts/schema-form.tsx'
import { useProject } from '../../session/project.tsx'
import { KINDS, type Kind, PROVIDERS, type Provider } from './search.ts'

type Input = components['schemas']['ProviderInput']

/** Adds a provider: its channel, its kind, and the settings of that kind. */
export function CreateProvider({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation('providers')
  const { data, error } = useRead(KINDS, undefined, { enabled: isOpen, staleTime: Number.POSITIVE_INFINITY })
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('create.title')} closeButtonProps={{ 'aria-label': t('close') }} size="lg">
      {error && <Failed error={error} />}
      {!data && !error && <Loading />}
      {data && <Form kinds={data.results as Kind[]} onClose={onClose} />}
    </Modal>
  )
}

function Form({ kinds, onClose }: { kinds: Kind[]; onClose: () => void }) {
  const { t } = useTranslation('providers')
  const navigate = useNavigate()
  const project = String(useProject().id)
  const [channel, setChannel] = useState<Provider['channel']>('email')
  const [kindName, setKind] = useState<string | null>(null)
  const [name, setName] = useState('')
  const [settings, setSettings] = useState<Values>({})
  const create = useWrite(
    (api, body: Input) => api.post(PROVIDERS, { body }),
    [PROVIDERS],
    ({ id }) => {
      onClose()
      void navigate({ to: '/p/$project/providers/$providerId', params: { project, providerId: String(id) } })
    },
  )
  const offered = kinds.filter(({ channels }) => channels.includes(channel))
  const kind = offered.find(({ name }) => name === kindName)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (kind) create.mutate({ name: name || kind.label, kind: kind.name, channel, settings } as Input)
  }
  return (
    <form className="form" onSubmit={submit}>
      {create.error && <Failed error={create.error} />}
      <Select
        label={t('column.channel')}
        data={CHANNELS.map((value) => ({ value, label: t(`channel.${value}.name`) }))}
        value={channel}
        allowDeselect={false}
        onChange={(next) => next && setChannel(next as Provider['channel'])}
      />
      <Select
        label={t('kind')}
        data={offered.map(({ name, label }) => ({ value: name, label }))}
        value={kind?.name ?? null}
        searchable
        required
        onChange={(next) => {
          setKind(next)
          setSettings({})
        }}
      />
      {kind && (
        <>
          <TextInput
            label={t('column.name')}
            placeholder={kind.label}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <SchemaForm
            schema={kind.settings}
            value={settings}
            onChange={setSettings}
            faults={create.error?.faults ?? []}
            prefix="settings."
          />
        </>
      )}
      <FormButtons onCancel={onClose} isPending={create.isPending} disabled={kind === undefined}>
        {t('create.submit')}
      </FormButtons>
    </form>
  )
}
