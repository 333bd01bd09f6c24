import { Button, Modal, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useWrite } from '../../parts/data.ts'
import { useErrorSince } from '../../parts/error-since.ts'
import { Failed } from '../../parts/failed.tsx'
import { useProject } from '../../session/project.tsx'
import { JOURNEYS } from './search.ts'

/** Creates a journey with a name. Its steps are added afterwards. */
export function CreateJourney({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation('journeys')
  const project = String(useProject().id)
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const create = useWrite(
    (api) => api.post(JOURNEYS, { body: { name: name.trim() } }),
    [JOURNEYS],
    ({ id }) => void navigate({ to: '/p/$project/journeys/$journeyId', params: { project, journeyId: String(id) } }),
  )
  const error = useErrorSince(isOpen, create.error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate(undefined)
  }
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('create.title')} closeButtonProps={{ 'aria-label': t('close') }}>
      <form className="form" onSubmit={submit}>
        {error && <Failed error={error} />}
        <TextInput
          label={t('column.name')}
          description={t('create.about')}
          data-autofocus
          required
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <div className="acts">
          <Button type="submit" loading={create.isPending} disabled={name.trim() === ''}>
            {t('create.submit')}
          </Button>
        </div>
      </form>
    </Modal>
  )
}
