import type { components } from '@carillon/sdk'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Confirm } from '../../parts/confirm.tsx'
import { useWrite } from '../../parts/data.ts'
import { said } from '../../parts/toast.ts'
import { useProject } from '../../session/project.tsx'

type Props = { list: components['schemas']['List']; isOpen: boolean; onClose: () => void }

/** Archives a list, which the API refuses while it is in use. */
export function Archive({ list: { id, name, users_count }, isOpen, onClose }: Props) {
  const { t } = useTranslation('lists')
  const project = String(useProject().id)
  const navigate = useNavigate()
  const archive = useWrite(
    (api) => api.delete('/api/client/lists/{listId}', { path: { listId: id } }),
    [],
    async () => {
      await navigate({ to: '/p/$project/lists', params: { project } })
      said(t('archive.done', { name }))
    },
  )
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title={t('archive.title', { name })}
      action={t('archive.action')}
      isPending={archive.isPending}
      error={archive.error}
      onConfirm={() => archive.mutate(undefined)}
    >
      <p>{t('archive.about', { count: users_count })}</p>
    </Confirm>
  )
}
