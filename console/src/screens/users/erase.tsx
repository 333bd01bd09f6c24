import type { components } from '@carillon/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Confirm } from '../../parts/confirm.tsx'
import { keyOf, useWrite } from '../../parts/data.ts'
import { said } from '../../parts/toast.ts'
import { useProject } from '../../session/project.tsx'

type Props = { user: components['schemas']['UserReply']; name: string; isOpen: boolean; onClose: () => void }

/** Erases a user. It cannot be undone, so the external id is typed first. */
export function Erase({ user, name, isOpen, onClose }: Props) {
  const { t } = useTranslation('users')
  const { id } = useProject()
  const client = useQueryClient()
  const navigate = useNavigate()
  const isOf = (options: unknown) => (options as { path?: { userId?: unknown } } | undefined)?.path?.userId === user.external_id
  const erase = useWrite(
    (api) => api.delete('/api/client/users/{userId}', { path: { userId: user.external_id } }),
    [],
    async () => {
      await navigate({ to: '/p/$project/users', params: { project: String(id) } })
      client.removeQueries({ predicate: ({ queryKey: [kind, project, , options] }) => kind === 'api' && project === id && isOf(options) })
      void client.invalidateQueries({ queryKey: keyOf(id, '/api/client/users') })
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
