import { Group, Modal } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { CopyAs } from '../../parts/copy-as.tsx'
import { Failed } from '../../parts/failed.tsx'
import { FormButtons } from '../../parts/form-buttons.tsx'
import { useOrganisationWrite } from '../../parts/organisation-data.ts'
import { said } from '../../parts/toast.ts'
import { useProject } from '../../session/project.tsx'
import { IdentityFields } from './identity-fields.tsx'

const PROJECTS = '/api/client/projects'

/** A new project of the organisation. It is a sandbox until it has a provider. */
export function CreateProject({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation('settings')
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('create.title')} closeButtonProps={{ 'aria-label': t('close') }}>
      <Form onClose={onClose} />
    </Modal>
  )
}

function Form({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('settings')
  const { locale, timezone } = useProject()
  const navigate = useNavigate()
  const [draft, setDraft] = useState({ name: '', locale, timezone })
  const set = (changes: Partial<typeof draft>) => setDraft((draft) => ({ ...draft, ...changes }))
  const body = { ...draft, name: draft.name.trim() }
  const create = useOrganisationWrite(
    (api, given: typeof draft) => api.post(PROJECTS, { body: given }),
    ({ id, name }) => {
      said(t('create.done', { name }))
      return navigate({ to: '/p/$project', params: { project: String(id) } })
    },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate(body)
  }
  return (
    <form className="form" onSubmit={submit}>
      <Group justify="space-between" wrap="nowrap" align="start">
        <p className="sm quiet">{t('create.about')}</p>
        <CopyAs label={t('create.more')} request={{ method: 'POST', path: PROJECTS, body }} />
      </Group>
      {create.error && <Failed error={create.error} />}
      <IdentityFields draft={draft} set={set} isNew />
      <FormButtons onCancel={onClose} isPending={create.isPending} disabled={body.name === ''}>
        {t('create.submit')}
      </FormButtons>
    </form>
  )
}
