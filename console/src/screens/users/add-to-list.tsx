import { Modal, Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead, useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { FormButtons } from '../../parts/form-buttons.tsx'
import { said } from '../../parts/toast.ts'
import type { User } from './columns.tsx'

const LISTS = '/api/client/lists'
const TYPED_MS = 250

type Props = { users: User[]; isOpen: boolean; onClose: () => void }

/** Adds users to a static list. The users of a dynamic list are those who match its rule. */
export function AddToList({ isOpen, ...props }: Props) {
  const { t } = useTranslation('users')
  const count = props.users.length
  return (
    <Modal opened={isOpen} onClose={props.onClose} title={t('toList.title', { count })} closeButtonProps={{ 'aria-label': t('close') }}>
      <Form {...props} />
    </Modal>
  )
}

function Form({ users, onClose }: Omit<Props, 'isOpen'>) {
  const { t } = useTranslation('users')
  const [list, setList] = useState<{ value: string; label: string } | null>(null)
  const [typed, setTyped] = useState('')
  // Once a list is chosen, its name is in the field; the others are still offered.
  const [q] = useDebouncedValue(typed === list?.label ? '' : typed.trim(), TYPED_MS)
  // Static lists come first, in case there are more lists than are read.
  const query = { limit: 100, sort: 'type' as const, direction: 'desc' as const, ...(q && { q }) }
  const lists = useRead(LISTS, { query }, { keepsPrevious: true })
  const add = useWrite(
    (api, { value }: { value: string; label: string }) =>
      api.post(`${LISTS}/{listId}/users`, { path: { listId: Number(value) }, body: { user_ids: users.map(({ id }) => id) } }),
    [LISTS],
    ({ added, unchanged, missing }, { label }) => {
      onClose()
      const rest = [
        unchanged > 0 && t('toList.unchanged', { count: unchanged }),
        missing.length > 0 && t('toList.missing', { count: missing.length }),
      ]
      said([t('toList.done', { added, count: users.length, name: label }), ...rest.filter(Boolean)].join(' '))
    },
  )
  const offered = (lists.data?.results ?? [])
    .filter(({ type }) => type === 'static')
    .map(({ id, name }) => ({ value: String(id), label: name }))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (list) add.mutate(list)
  }
  return (
    <form className="form" onSubmit={submit}>
      {lists.error && <Failed error={lists.error} />}
      {add.error && <Failed error={add.error} />}
      <Select
        label={t('toList.list')}
        description={t('toList.about')}
        required
        searchable
        data={list && !offered.some(({ value }) => value === list.value) ? [list, ...offered] : offered}
        value={list?.value ?? null}
        onChange={(_, option) => setList(option)}
        searchValue={typed}
        onSearchChange={setTyped}
        nothingFoundMessage={t('toList.none')}
      />
      <FormButtons onCancel={onClose} isPending={add.isPending} disabled={list === null}>
        {t('toList.submit', { count: users.length })}
      </FormButtons>
    </form>
  )
}
