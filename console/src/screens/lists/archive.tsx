import type { components } from '@carillon/sdk'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Archive as ArchiveObject } from '../../parts/archive.tsx'
import { useProject } from '../../session/project.tsx'

type Props = { list: components['schemas']['List']; isOpen: boolean; onClose: () => void }

/** Archives a list, which the API refuses while it is in use. */
export function Archive({ list: { id, name, users_count }, isOpen, onClose }: Props) {
  const { t } = useTranslation('lists')
  const project = String(useProject().id)
  const navigate = useNavigate()
  return (
    <ArchiveObject
      kind="list"
      object={{ id, name }}
      isOpen={isOpen}
      onClose={onClose}
      title={t('archive.title', { name })}
      action={t('archive.action')}
      changes={['/api/client/lists']}
      leave={() => navigate({ to: '/p/$project/lists', params: { project }, ignoreBlocker: true })}
      done={t('archive.done', { name })}
    >
      <p>{t('archive.about', { count: users_count })}</p>
    </ArchiveObject>
  )
}
