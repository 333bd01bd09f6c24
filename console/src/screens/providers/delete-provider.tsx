import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { ConfirmWrite } from '../../parts/confirm-write.tsx'
import { useRead } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { useProject } from '../../session/project.tsx'
import { PROVIDER, PROVIDERS, type Provider } from './search.ts'

const SHOWN_MAX = 100

type Props = { provider: Provider; isOpen: boolean; onClose: () => void }

/** Deletes a provider, after showing which campaigns will then be sent in another way. */
export function DeleteProvider({ provider: { id, name, channel, is_default }, isOpen, onClose }: Props) {
  const { t } = useTranslation('providers')
  const navigate = useNavigate()
  const project = String(useProject().id)
  const query = { provider_id: String(id), limit: SHOWN_MAX, sort: 'name' } as const
  const campaigns = useRead('/api/client/campaigns', { query }, { enabled: isOpen })
  return (
    <ConfirmWrite
      isOpen={isOpen}
      onClose={onClose}
      title={t('delete.title', { name })}
      action={t('delete.action')}
      typed={name}
      isLoading={campaigns.isLoading}
      write={(api) => api.delete(PROVIDER, { path: { providerId: id } })}
      changes={[PROVIDERS]}
      leave={() => navigate({ to: '/p/$project/providers', params: { project }, ignoreBlocker: true })}
      done={t('delete.done', { name })}
    >
      {campaigns.error && <Failed error={campaigns.error} />}
      <p>{t(is_default ? 'delete.ofDefault' : 'delete.about', { channel: t(`channel.${channel}.name`) })}</p>
      {campaigns.data && campaigns.data.results.length > 0 && (
        <>
          <p>{t('delete.used')}</p>
          <ul>
            {campaigns.data.results.map(({ id, name }) => (
              <li key={id}>{name}</li>
            ))}
            {campaigns.data.nextCursor !== null && <li>{t('delete.more')}</li>}
          </ul>
        </>
      )}
    </ConfirmWrite>
  )
}
