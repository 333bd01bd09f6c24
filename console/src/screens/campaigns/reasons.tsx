import type { components } from '@carillon/sdk'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { Num } from '../../parts/number.tsx'
import { useProject } from '../../session/project.tsx'
import { type ReasonSum, sumsOf } from './reason-sums.ts'

type Props = { campaignId: number; states: components['schemas']['CampaignDeliveryReply']['states'] }

/** Why messages were not sent, failed or wait: each reason with the number of its messages, which leads to their recipients. */
export function Reasons({ campaignId, states }: Props) {
  const { t } = useTranslation('campaigns')
  const sums = sumsOf(states)
  if (sums.length === 0) return null
  return (
    <table className="rows" aria-label={t('reasons.label')}>
      <thead>
        <tr>
          <th scope="col">{t('reasons.reason')}</th>
          <th scope="col">{t('reasons.state')}</th>
          <th scope="col" className="num">
            {t('reasons.messages')}
          </th>
        </tr>
      </thead>
      <tbody>
        {sums.map((sum) => (
          <ReasonRow key={`${sum.state} ${sum.reason}`} campaignId={campaignId} sum={sum} />
        ))}
      </tbody>
    </table>
  )
}

function ReasonRow({ campaignId, sum: { state, reason, messages } }: { campaignId: number; sum: ReasonSum }) {
  const { t } = useTranslation('campaigns')
  const project = useProject()
  const words = t(`reason.${reason}`, { defaultValue: '' })
  return (
    <tr>
      <th scope="row">
        <Link
          to="/p/$project/campaigns/$campaignId"
          params={{ project: String(project.id), campaignId: String(campaignId) }}
          search={{ state, q: reason }}
          resetScroll={false}
        >
          {words || reason}
        </Link>
        {words && <code className="r">{reason}</code>}
      </th>
      <td>
        <Chip state={state} />
      </td>
      <td className="num">
        <Num value={messages} />
      </td>
    </tr>
  )
}
