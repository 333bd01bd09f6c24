import type { components } from '@carillon/sdk'
import { Modal, Radio, Select, Switch, Textarea, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { CHANNELS } from '../../parts/channels.ts'
import { useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { FormButtons } from '../../parts/form-buttons.tsx'
import { changedMembers } from '../../parts/merge.ts'
import { said, undoable } from '../../parts/toast.ts'

type Subscription = components['schemas']['Subscription']
type Input = components['schemas']['SubscriptionInput']
type Changes = components['schemas']['SubscriptionChanges']

const PATH = '/api/client/subscriptions'
const FLAGS = ['is_public', 'requires_confirmation', 'is_transactional'] as const
const EMPTY: Input = {
  name: '',
  channel: 'email',
  is_public: true,
  default_state: 0,
  is_transactional: false,
  requires_confirmation: false,
}

type Props = { edited: Subscription | 'new' | null; onClose: () => void }

/** Creates a subscription type, or changes one. Its channel cannot be changed later. */
export function SubscriptionForm({ edited, onClose }: Props) {
  const { t } = useTranslation('subscriptions')
  const title = edited === null || edited === 'new' ? t('create.title') : t('edit.title', { name: edited.name })
  return (
    <Modal opened={edited !== null} onClose={onClose} title={title} closeButtonProps={{ 'aria-label': t('close') }} size="lg">
      {edited !== null && <Form stored={edited === 'new' ? null : edited} onClose={onClose} />}
    </Modal>
  )
}

const inputOf = ({
  name,
  channel,
  is_public,
  default_state,
  is_transactional,
  requires_confirmation,
  description,
}: Subscription): Input => ({
  name,
  channel,
  is_public,
  default_state,
  is_transactional,
  requires_confirmation,
  description: description ?? null,
})

const changesOf = ({ channel: _, ...changes }: Input): Changes => changes

function Form({ stored, onClose }: { stored: Subscription | null; onClose: () => void }) {
  const { t } = useTranslation('subscriptions')
  const [input, setInput] = useState<Input>(stored ? inputOf(stored) : EMPTY)
  const set = (changes: Partial<Input>) => setInput((input) => ({ ...input, ...changes }))
  const create = useWrite(
    (api) => api.post(PATH, { body: input }),
    [PATH],
    ({ name }) => {
      onClose()
      said(t('create.done', { name }))
    },
  )
  const change = useWrite(
    (api, { id, changes }: { id: number; changes: Changes; before?: Changes }) =>
      api.patch('/api/client/subscriptions/{subscriptionId}', { path: { subscriptionId: id }, body: changes }),
    [PATH],
    ({ name }, { id, before }) => {
      onClose()
      if (before) undoable(t('edit.done', { name }), () => change.mutateAsync({ id, changes: before }))
    },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!stored) return create.mutate(undefined)
    const [before, after] = [changesOf(inputOf(stored)), changesOf(input)]
    change.mutate({ id: stored.id, changes: changedMembers(before, after), before: changedMembers(after, before) })
  }
  const error = create.error ?? change.error
  return (
    <form className="form" onSubmit={submit}>
      {error && <Failed error={error} />}
      <TextInput
        label={t('column.name')}
        description={t('create.nameAbout')}
        required
        data-autofocus
        value={input.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      {!stored && (
        <Select
          label={t('column.channel')}
          data={CHANNELS.map((value) => ({ value, label: t(`channel.${value}.name`) }))}
          value={input.channel}
          allowDeselect={false}
          onChange={(channel) => set({ channel: channel as Input['channel'] })}
        />
      )}
      <Textarea
        label={t('description')}
        description={t('descriptionAbout')}
        maxLength={500}
        autosize
        minRows={2}
        value={input.description ?? ''}
        onChange={(event) => set({ description: event.currentTarget.value === '' ? null : event.currentTarget.value })}
      />
      <Radio.Group
        label={t('column.begins')}
        value={String(input.default_state)}
        onChange={(state) => set({ default_state: state === '1' ? 1 : 0 })}
      >
        <Radio mt="xs" value="0" label={t('begins.0')} description={t('begins.0About')} />
        <Radio mt="xs" value="1" label={t('begins.1')} description={t('begins.1About')} />
      </Radio.Group>
      {FLAGS.map((name) => (
        <Switch
          key={name}
          label={t(`flag.${name}`)}
          description={t(`flag.${name}About`)}
          checked={input[name] === true}
          onChange={(event) => set({ [name]: event.currentTarget.checked })}
        />
      ))}
      <FormButtons onCancel={onClose} isPending={create.isPending || change.isPending}>
        {t(stored ? 'save' : 'create.submit')}
      </FormButtons>
    </form>
  )
}
