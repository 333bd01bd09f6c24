import { useTranslation } from 'react-i18next'
import { Confirm } from '../../parts/confirm.tsx'
import { useWrite } from '../../parts/data.ts'
import { said } from '../../parts/toast.ts'
import { type ListedTemplate, TEMPLATES } from './search.ts'

type Props = { template: ListedTemplate; isOpen: boolean; onClose: () => void }

/** Archives the campaign of a template, with all its templates. The API refuses it while a live journey uses the campaign. */
export function Archive({ template: { campaign_id, campaign_name }, isOpen, onClose }: Props) {
  const { t } = useTranslation('templates')
  const archive = useWrite(
    (api) => api.delete('/api/client/campaigns/{campaignId}', { path: { campaignId: campaign_id } }),
    [TEMPLATES, '/api/client/campaigns'],
    () => {
      said(t('archive.done', { name: campaign_name }))
      onClose()
    },
  )
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title={t('archive.title', { name: campaign_name })}
      action={t('archive.action')}
      isPending={archive.isPending}
      error={archive.error}
      onConfirm={() => archive.mutate(undefined)}
    >
      <p>{t('archive.about')}</p>
    </Confirm>
  )
}
