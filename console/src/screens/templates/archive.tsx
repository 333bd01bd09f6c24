import { useTranslation } from 'react-i18next'
import { Archive as ArchiveObject } from '../../parts/archive.tsx'
import { type ListedTemplate, TEMPLATES } from './search.ts'

type Props = { template: ListedTemplate; isOpen: boolean; onClose: () => void }

/** Archives the campaign of a template, with all its templates. The API refuses it while a live journey uses the campaign. */
export function Archive({ template: { campaign_id, campaign_name }, isOpen, onClose }: Props) {
  const { t } = useTranslation('templates')
  return (
    <ArchiveObject
      kind="campaign"
      object={{ id: campaign_id, name: campaign_name }}
      isOpen={isOpen}
      onClose={onClose}
      title={t('archive.title', { name: campaign_name })}
      action={t('archive.action')}
      changes={[TEMPLATES, '/api/client/campaigns']}
      done={t('archive.done', { name: campaign_name })}
    >
      <p>{t('archive.about')}</p>
    </ArchiveObject>
  )
}
