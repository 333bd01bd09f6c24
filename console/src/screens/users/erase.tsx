import type { components } from '@carillon/sdk'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Confirm } from '../../parts/confirm.tsx'
import { useWrite } from '../../parts/data.ts'
import { said } from '../../parts/toast.ts'
import { useProject } from '../../session/project.tsx'

type Props = { user: components['schemas']['UserReply']; name: string; isOpen: boolean; onClose: () => void }

/** Erases a user. It cannot be undone, so the external id is typed first. */
export function Erase({ user, name, isOpen, onClose }: Props) {
  const { t } = useTranslation('users')
  const { id } = useProject()
  const navigate = useNavigate()
  const erase = useWrite(
    (api) => api.delete('/api/client/users/{userId}', { path: { userId: user.external_id } }),
    [],
    async () => {
      await navigate({ to: '/p/$project/users', params: { project: String(id) } })
      said(t('erase.done', { name }))
    },
  )
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title={t('erase.title', { name })}
      action={t('erase.action')}
      typed={user.external_id}
      isPending={erase.isPending}
      error={erase.error}
      onConfirm={() => erase.mutate(undefined)}
    >
      <p>{t('erase.about')}</p>
    </Confirm>
  )
}
