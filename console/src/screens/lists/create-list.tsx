import { Modal, Radio, TagsInput, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { useErrorSince } from '../../parts/error-since.ts'
import { Failed } from '../../parts/failed.tsx'
import { FormButtons } from '../../parts/form-buttons.tsx'
import { useProject } from '../../session/project.tsx'

const TYPES = ['static', 'dynamic'] as const

/** Creates a static list, or leads to the rule of a dynamic one. */
export function CreateList({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation('lists')
  const params = { project: String(useProject().id) }
  const navigate = useNavigate()
  const [type, setType] = useState<(typeof TYPES)[number]>('dynamic')
  const [name, setName] = useState('')
  const [tags, setTags] = useState<string[]>([])
  const create = useWrite(
    (api) => api.post('/api/client/lists', { body: { name, type: 'static', tags } }),
    ['/api/client/lists'],
    ({ id }) => void navigate({ to: '/p/$project/lists/$listId', params: { ...params, listId: String(id) } }),
  )
  const error = useErrorSince(isOpen, create.error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (type === 'static') create.mutate(undefined)
    else void navigate({ to: '/p/$project/lists/new', params })
  }
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('create.title')} closeButtonProps={{ 'aria-label': t('close') }}>
      <form className="form" onSubmit={submit}>
        {error && <Failed error={error} />}
        <Radio.Group label={t('column.type')} value={type} onChange={(type) => setType(type as typeof type & 'static')}>
          {TYPES.map((type) => (
            <Radio key={type} mt="xs" value={type} label={t(`type.${type}`)} description={t(`create.${type}`)} />
          ))}
        </Radio.Group>
        {type === 'static' && (
          <>
            <TextInput label={t('column.name')} required value={name} onChange={(event) => setName(event.currentTarget.value)} />
            <TagsInput label={t('column.tags')} value={tags} onChange={setTags} />
          </>
        )}
        <FormButtons onCancel={onClose} isPending={create.isPending}>
          {t(type === 'static' ? 'create.submit' : 'create.toRule')}
        </FormButtons>
      </form>
    </Modal>
  )
}
