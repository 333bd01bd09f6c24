import type { components } from '@carillon/sdk'
import { Modal, Radio } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { FormButtons } from '../../parts/form-buttons.tsx'
import { ShownOnce } from '../../parts/shown-once.tsx'
import { type Input, NameField, RightsFields } from './key-fields.tsx'

type Key = components['schemas']['Key']

const SCOPES = ['secret', 'public'] as const
const EMPTY: Input = { name: '', scope: 'secret', role: 'editor' }

/** Creates a key, and shows its value once. */
export function CreateKey({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation('keys')
  const [created, setCreated] = useState<Key | null>(null)
  const close = () => {
    setCreated(null)
    onClose()
  }
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={t(created ? 'created.title' : 'create.title')}
      closeButtonProps={{ 'aria-label': t('close') }}
      size="lg"
    >
      {created ? <Created created={created} onClose={close} /> : <Form onCreated={setCreated} onClose={close} />}
    </Modal>
  )
}

function Created({ created: { scope, value }, onClose }: { created: Key; onClose: () => void }) {
  const { t } = useTranslation('keys')
  const variable = scope === 'secret' ? 'SECRET_KEY' : 'PUBLISHABLE_KEY'
  return <ShownOnce about={t('created.about')} value={value} variable={variable} onClose={onClose} />
}

function Form({ onCreated, onClose }: { onCreated: (key: Key) => void; onClose: () => void }) {
  const { t } = useTranslation('keys')
  const [input, setInput] = useState<Input>(EMPTY)
  const create = useWrite((api, body: Input) => api.post('/api/client/keys', { body }), ['/api/client/keys'], onCreated)
  const set = (changes: Partial<Input>) => setInput((input) => ({ ...input, ...changes }))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate(input)
  }
  return (
    <form className="form" onSubmit={submit}>
      {create.error && <Failed error={create.error} />}
      <NameField input={input} onChange={set} />
      <Radio.Group label={t('column.scope')} value={input.scope} onChange={(scope) => set({ scope: scope as Input['scope'] })}>
        {SCOPES.map((scope) => (
          <Radio key={scope} mt="xs" value={scope} label={t(`scope.${scope}`)} description={t(`scope.${scope}About`)} />
        ))}
      </Radio.Group>
      <RightsFields input={input} onChange={set} />
      <FormButtons onCancel={onClose} isPending={create.isPending}>
        {t('create.submit')}
      </FormButtons>
    </form>
  )
}
