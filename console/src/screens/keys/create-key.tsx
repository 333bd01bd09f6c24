import type { components } from '@carillon/sdk'
import { Radio } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { useErrorSince } from '../../parts/error-since.ts'
import { Failed } from '../../parts/failed.tsx'
import { FormButtons } from '../../parts/form-buttons.tsx'
import { SecretDialog } from '../../parts/shown-once.tsx'
import { type Input, NameField, RightsFields } from './key-fields.tsx'

type Key = components['schemas']['Key']

const SCOPES = ['secret', 'public'] as const
/** The names of the variables in which the guide keeps keys. */
const VARIABLES: Record<Key['scope'], string> = { secret: 'SECRET_KEY', public: 'PUBLISHABLE_KEY' }
const EMPTY: Input = { name: '', scope: 'secret', role: 'editor' }

/** Creates a key, and shows its value once. */
export function CreateKey({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation('keys')
  const [created, setCreated] = useState<Key | null>(null)
  const create = useWrite((api, body: Input) => api.post('/api/client/keys', { body }), ['/api/client/keys'], setCreated)
  const error = useErrorSince(isOpen, create.error)
  const close = () => {
    setCreated(null)
    onClose()
  }
  return (
    <SecretDialog
      isOpen={isOpen}
      onClose={close}
      title={t(created ? 'created.title' : 'create.title')}
      isPending={create.isPending}
      secret={created ? { about: t('created.about'), value: created.value, variable: VARIABLES[created.scope] } : undefined}
    >
      <Form isPending={create.isPending} error={error} onSubmit={create.mutate} onClose={close} />
    </SecretDialog>
  )
}

type FormProps = { isPending: boolean; error: unknown; onSubmit: (input: Input) => void; onClose: () => void }

function Form({ isPending, error, onSubmit, onClose }: FormProps) {
  const { t } = useTranslation('keys')
  const [input, setInput] = useState<Input>(EMPTY)
  const set = (changes: Partial<Input>) => setInput((input) => ({ ...input, ...changes }))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSubmit(input)
  }
  return (
    <form className="form" onSubmit={submit}>
      {error !== null && <Failed error={error} />}
      <NameField input={input} onChange={set} />
      <Radio.Group label={t('column.scope')} value={input.scope} onChange={(scope) => set({ scope: scope as Input['scope'] })}>
        {SCOPES.map((scope) => (
          <Radio key={scope} mt="xs" value={scope} label={t(`scope.${scope}`)} description={t(`scope.${scope}About`)} />
        ))}
      </Radio.Group>
      <RightsFields input={input} onChange={set} />
      <FormButtons onCancel={onClose} isPending={isPending} isHeld>
        {t('create.submit')}
      </FormButtons>
    </form>
  )
}
