import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Confirm } from '../../parts/confirm.tsx'
import { useRead, useWrite } from '../../parts/data.ts'
import { said } from '../../parts/toast.ts'
import { useProject } from '../../session/project.tsx'
import { PROVIDER, PROVIDERS, type Provider } from './search.ts'

const SHOWN_MAX = 100

type Props = { provider: Provider; isOpen: boolean; onClose: () => void }

/** Deletes a provider, and says before which campaigns send differently then. */
export function DeleteProvider({ provider: { id, name, channel, is_default }, isOpen, onClose }: Props) {
  const { t } = useTranslation('providers')
  const navigate = useNavigate()
  const project = String(useProject().id)
  const query = { provider_id: String(id), limit: SHOWN_MAX, sort: 'name' } as const
  const campaigns = useRead('/api/client/campaigns', { query }, { enabled: isOpen })
  const remove = useWrite(
    async (api) => {
      await api.delete(PROVIDER, { path: { providerId: id } })
      await navigate({ to: '/p/$project/providers', params: { project } })
    },
    [PROVIDERS],
    () => said(t('delete.done', { name })),
  )
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title={t('delete.title', { name })}
      action={t('delete.action')}
      typed={name}
      isPending={remove.isPending || campaigns.isLoading}
      error={campaigns.error ?? remove.error}
      onConfirm={() => remove.mutate(undefined)}
    >
      <p>{t(is_default ? 'delete.ofDefault' : 'delete.about', { channel: t(`channel.${channel}`) })}</p>
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
    </Confirm>
  )
}
