import { useTranslation } from 'react-i18next'
import { useRead } from '../../parts/data.ts'
import { Num, Rate } from '../../parts/number.tsx'
import { Card } from '../../parts/page.tsx'
import type { Campaign } from './search.ts'

/** What recipients did: opens, which are an estimate, and clicks by link. */
export function Engagement({ campaign: { id, channel, delivery } }: { campaign: Campaign }) {
  const { t, i18n } = useTranslation('campaigns')
  const path = { campaignId: id }
  const { data } = useRead('/api/client/campaigns/{campaignId}/links', { path })
  const report = useRead('/api/client/campaigns/{campaignId}/delivery', { path })
  if (channel !== 'email' && delivery.clicks === 0) return null
  const { sent, opens, clicks, bounced } = delivery
  const parts = [
    ['sent', sent, delivery.total],
    ['opens', opens, sent],
    ['clicks', clicks, sent],
    ['bounced', bounced, sent],
    ['unsubscribed', report.data?.unsubscribed ?? 0, sent],
  ] as const
  return (
    <Card title={t('engagement.heading')}>
      <dl className="figures">
        {parts.map(([name, part, whole]) => (
          <div key={name}>
            <dt>{t(`engagement.${name}`)}</dt>
            <dd>
              <i className={name === 'opens' ? 'column guess' : 'column'} aria-hidden>
                <i style={{ height: `${whole === 0 ? 0 : (100 * part) / whole}%` }} />
              </i>
              <b>
                <Num value={part} />
              </b>
              <span className="r">
                <Rate part={part} whole={whole} />
              </span>
            </dd>
          </div>
        ))}
      </dl>
      {data && (
        <p className="pad sm quiet rule">
          {t('engagement.estimate', { machine: new Intl.NumberFormat(i18n.language).format(data.opens.machine) })}
        </p>
      )}
      {data && data.results.length > 0 && (
        <table className="rows" aria-label={t('engagement.links')}>
          <thead>
            <tr>
              <th scope="col">{t('engagement.link')}</th>
              <th scope="col" className="num">
                {t('engagement.clicks')}
              </th>
            </tr>
          </thead>
          <tbody>
            {data.results.map((link) => (
              <tr key={link.id}>
                <th scope="row">
                  <code>{link.url}</code>
                </th>
                <td className="num">
                  <Num value={link.clicks} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  )
}
