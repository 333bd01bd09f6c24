import type { components } from '@carillon/sdk'
import { IconCheck, IconX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { isAgreed } from '../../parts/consent.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useRead } from '../../parts/data.ts'
import { Empty } from '../../parts/empty.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Sentence } from '../../parts/sentence.tsx'

type Message = components['schemas']['MessageWhole']
type Explanation = components['schemas']['CampaignRecipientExplainReply']

const PATH = '/api/client/campaigns/{campaignId}/recipients/{userId}/explain'
const STATES = ['unsubscribed', 'subscribed', 'confirmed'] as const

/** Why the user got the message or did not: each check in order, as it is now. */
export function Explain({ message }: { message: Message }) {
  const { t } = useTranslation('messages')
  const { external_id } = message.user
  const path = { campaignId: message.campaign_id, userId: external_id ?? '' }
  const { data, error, refetch } = useRead(PATH, { path }, { enabled: external_id !== null })
  if (external_id === null) return <Empty>{t('explain.erased')}</Empty>
  if (error) return <Failed error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading />
  return (
    <>
      <div className="pad explain">
        <p>
          <Sentence text={data.summary} />
        </p>
        <CopyAs label={t('explain.more')} request={{ method: 'GET', path: PATH, params: path }} />
      </div>
      <ol className="gates">
        {gatesOf(data).map(({ id, passes, values, words }) => (
          <li key={id}>
            <span className={`mk ${passes ? '' : 'bad'}`}>
              {passes ? <IconCheck aria-label={t('explain.passes')} /> : <IconX aria-label={t('explain.fails')} />}
            </span>
            {t(`explain.${words}`, values)}
          </li>
        ))}
      </ol>
      <p className="quiet xs pad">{t('explain.now')}</p>
    </>
  )
}

type Gate = { id: string; passes: boolean; words: string; values?: Record<string, ReactNode> }

/** The checks, in the order in which they are made. */
function gatesOf({ in_audience, lists, exclusion_lists, consent, suppression, now }: Explanation): Gate[] {
  const names = (of: { name: string }[]) => of.map(({ name }) => `“${name}”`).join(', ')
  const member = lists.filter((list) => list.member)
  const excluded = exclusion_lists.filter((list) => list.member)
  return [
    ...(in_audience === null
      ? []
      : [
          in_audience
            ? { id: 'audience', passes: true, words: 'inAudience', values: { lists: names(member) } }
            : { id: 'audience', passes: false, words: 'notInAudience', values: { lists: names(lists) } },
        ]),
    ...(exclusion_lists.length === 0
      ? []
      : [
          excluded.length > 0
            ? { id: 'exclusion', passes: false, words: 'excluded', values: { lists: names(excluded) } }
            : { id: 'exclusion', passes: true, words: 'notExcluded', values: { lists: names(exclusion_lists) } },
        ]),
    ...(consent
      ? [
          {
            id: 'consent',
            passes: isAgreed(consent),
            words: consent.is_transactional ? 'transactional' : 'consent',
            values: { state: STATES[consent.state as 0 | 1 | 2], id: consent.subscription_id },
          },
        ]
      : []),
    suppression === null
      ? { id: 'suppression', passes: true, words: 'notSuppressed' }
      : { id: 'suppression', passes: false, words: 'suppressed', values: { reason: suppression } },
    now.reason === null
      ? { id: 'now', passes: true, words: 'wouldSend' }
      : { id: 'now', passes: false, words: 'wouldSkip', values: { reason: now.reason } },
  ]
}
