import type { components } from '@carillon/sdk'
import { Modal } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { FormButtons } from '../../parts/form-buttons.tsx'
import { changedMembers, mergeItems } from '../../parts/merge.ts'
import { said } from '../../parts/toast.ts'
import { DescriptionField, type Input, NameField, RightsFields } from './key-fields.tsx'

type Key = components['schemas']['Key']
type Changes = components['schemas']['KeyChanges']

const KEY = '/api/client/keys/{keyId}'

/** Changes a key. Its value stays; so does its scope, because a published key that became secret would be a leaked one. */
export function EditKey({ edited, onClose }: { edited: Key | null; onClose: () => void }) {
  const { t } = useTranslation('keys')
  return (
    <Modal
      opened={edited !== null}
      onClose={onClose}
      title={t('edit.title', { name: edited?.name })}
      closeButtonProps={{ 'aria-label': t('close') }}
      size="lg"
    >
      {edited && <Form edited={edited} onClose={onClose} />}
    </Modal>
  )
}

function Form({ edited, onClose }: { edited: Key; onClose: () => void }) {
  const { t } = useTranslation('keys')
  const { id, name, description, scope, role, allowed_origins } = edited
  const begun: Input = { name, description, scope, role, allowed_origins }
  const [input, setInput] = useState(begun)
  const edit = useWrite(
    async (api, body: Changes) => {
      const path = { keyId: id }
      if (body.allowed_origins === undefined) return api.patch(KEY, { path, body })
      const { allowed_origins: now = [] } = await api.get(KEY, { path })
      return api.patch(KEY, { path, body: { ...body, allowed_origins: mergeItems(allowed_origins ?? [], body.allowed_origins, now) } })
    },
    ['/api/client/keys'],
    ({ name }) => {
      onClose()
      said(t('edit.done', { name }))
    },
  )
  const set = (changes: Partial<Input>) => setInput((input) => ({ ...input, ...changes }))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const { scope: _, ...changes } = changedMembers(begun, input)
    edit.mutate(changes as Changes)
  }
  return (
    <form className="form" onSubmit={submit}>
      {edit.error && <Failed error={edit.error} />}
      <NameField input={input} onChange={set} />
      <DescriptionField input={input} onChange={set} />
      <RightsFields input={input} onChange={set} />
      <p className="sm">{t('edit.about')}</p>
      <FormButtons onCancel={onClose} isPending={edit.isPending}>
        {t('edit.submit')}
      </FormButtons>
    </form>
  )
}
