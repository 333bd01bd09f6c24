import type { Client } from '@carillon/sdk'
import { Modal, Select } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useReadAll, useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { FormButtons } from '../../parts/form-buttons.tsx'
import { OPTIONS_MAX } from '../../parts/paging.ts'
import { undoable } from '../../parts/toast.ts'
import type { User } from './columns.tsx'
import { forEach } from './several.ts'
import { readSubscriptions, SUBSCRIPTIONS, type Subscription } from './subscription.ts'

type State = Subscription['state']
/** What to set, by the external ids. */
type Change = { type: number; name: string; states: Map<string, State>; isUndo?: true }

type Props = { users: User[]; isOpen: boolean; onClose: () => void }

/** Unsubscribes several users from a subscription type. Undo restores the former state of each. */
export function UnsubscribeSeveral({ isOpen, ...props }: Props) {
  const { t } = useTranslation('users')
  const title = t('unsubscribe.title', { count: props.users.length })
  return (
    <Modal opened={isOpen} onClose={props.onClose} title={title} closeButtonProps={{ 'aria-label': t('close') }}>
      <Form {...props} />
    </Modal>
  )
}

function Form({ users, onClose }: Omit<Props, 'isOpen'>) {
  const { t } = useTranslation('users')
  const [type, setType] = useState<string | null>(null)
  const types = useReadAll('/api/client/subscriptions')
  const { set, error, isPending } = useSet(onClose)
  const chosen = types.data?.find(({ id }) => String(id) === type)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!chosen) return
    set({ type: chosen.id, name: chosen.name, states: new Map(users.map(({ external_id }) => [external_id, 0])) })
  }
  return (
    <form className="form" onSubmit={submit}>
      {types.error && <Failed error={types.error} />}
      {error !== undefined && <Failed error={error} />}
      <Select
        label={t('unsubscribe.from')}
        description={t('unsubscribe.about')}
        required
        searchable
        limit={OPTIONS_MAX}
        data={(types.data ?? []).map(({ id, name, channel }) => ({
          value: String(id),
          label: `${name} · ${t(`channel.${channel}.name`)}`,
        }))}
        value={type}
        onChange={setType}
      />
      <FormButtons onCancel={onClose} isPending={isPending} disabled={!chosen}>
        {t('unsubscribe.submit', { count: users.length })}
      </FormButtons>
    </form>
  )
}

/** Sets the states, and offers to set those from before. */
function useSet(onDone: () => void) {
  const { t } = useTranslation('users')
  const write = useWrite(
    async (api, { type, states, isUndo }: Change) => {
      const before = new Map<string, State>()
      const { done, error } = await forEach([...states], async ([userId, state]) => {
        const current = isUndo ? undefined : await findState(api, userId, type)
        if (current === state) return
        // Of a type that is gone, the server says so.
        await api.patch(SUBSCRIPTIONS, { path: { userId }, body: [{ subscription_id: type, state }] })
        if (current !== undefined) before.set(userId, current)
      })
      return { before, error, unchanged: done.length - before.size }
    },
    ['/api/client/users'],
    ({ before, error, unchanged }, { type, name, states, isUndo }) => {
      if (isUndo) return
      if (error === undefined) onDone()
      const left = unchanged > 0 ? ` ${t('unsubscribe.unchanged', { count: unchanged })}` : ''
      undoable(t('unsubscribe.done', { done: before.size, count: states.size, name }) + left, async () => {
        const { error } = await write.mutateAsync({ type, name, states: before, isUndo: true })
        if (error !== undefined) throw error
      })
    },
  )
  return { set: write.mutate, error: write.error ?? write.data?.error, isPending: write.isPending }
}

async function findState(api: Client, userId: string, type: number): Promise<State | undefined> {
  const found = await readSubscriptions(api, userId)
  return found.find(({ subscription_id }) => subscription_id === type)?.state
}
