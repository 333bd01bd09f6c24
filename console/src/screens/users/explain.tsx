import type { components } from '@carillon/sdk'
import { Modal, Select } from '@mantine/core'
import type { TFunction } from 'i18next'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { isAgreed } from '../../parts/consent.ts'
import { useRead, useReadAll } from '../../parts/data.ts'
import { Empty } from '../../parts/empty.tsx'
import { Failed } from '../../parts/failed.tsx'
import { type Gate, Gates } from '../../parts/gates.tsx'
import { Loading } from '../../parts/loading.tsx'
import { OPTIONS_MAX } from '../../parts/paging.ts'
import { Sentence } from '../../parts/sentence.tsx'

type Reply = components['schemas']['CampaignRecipientExplainReply']

/** “Why did they get it, or not?”: every check of a campaign for this user, with what was found. */
export function Explain({ userId, name, isOpen, onClose }: { userId: string; name: string; isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation('users')
  const [chosen, setChosen] = useState<string | null>(null)
  const campaigns = useReadAll('/api/client/campaigns', {}, { enabled: isOpen })
  const found = campaigns.data ?? []
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('explain.title', { name })} closeButtonProps={{ 'aria-label': t('close') }}>
      {campaigns.error && <Failed error={campaigns.error} />}
      {campaigns.data && found.length === 0 ? (
        <Empty>{t('explain.empty')}</Empty>
      ) : (
        <Select
          label={t('explain.campaign')}
          data-autofocus
          searchable
          limit={OPTIONS_MAX}
          data={found.map(({ id, name }) => ({ value: String(id), label: name }))}
          value={chosen}
          onChange={setChosen}
        />
      )}
      {chosen !== null && <Explanation userId={userId} campaignId={Number(chosen)} />}
    </Modal>
  )
}

function Explanation({ userId, campaignId }: { userId: string; campaignId: number }) {
  const { t } = useTranslation('users')
  const { data, error } = useRead('/api/client/campaigns/{campaignId}/recipients/{userId}/explain', { path: { campaignId, userId } })
  if (error) return <Failed error={error} />
  if (!data) return <Loading />
  return (
    <>
      <p className="explained">
        <Sentence text={data.summary} />
      </p>
      <Gates gates={gatesOf(data, t)} />
    </>
  )
}

function gatesOf({ lists, exclusion_lists, consent, suppression, now, in_audience }: Reply, t: TFunction<'users'>): Gate[] {
  const namesOf = (all: { name: string; member: boolean }[], member: boolean) =>
    all
      .filter((list) => list.member === member)
      .map(({ name }) => name)
      .join(', ')
  const isExcluded = exclusion_lists.some(({ member }) => member)
  return [
    {
      id: 'audience',
      passes: in_audience,
      label: t('explain.audience'),
      found: namesOf(lists, true) || namesOf(lists, false) || t('explain.noLists'),
    },
    {
      id: 'exclusions',
      passes: !isExcluded,
      label: t('explain.exclusions'),
      found: namesOf(exclusion_lists, true) || t('explain.notExcluded'),
    },
    {
      id: 'consent',
      passes: consent === null ? null : isAgreed(consent),
      label: t('explain.consent'),
      found:
        consent === null
          ? t('explain.noConsent')
          : consent.is_transactional
            ? t('explain.transactional')
            : t(`explain.state${consent.state}`),
    },
    { id: 'suppression', passes: suppression === null, label: t('explain.suppression'), found: suppression ?? t('explain.notSuppressed') },
    { id: 'now', passes: now.reason === null, label: t('explain.now'), found: now.reason ?? t('explain.sent') },
  ]
}
