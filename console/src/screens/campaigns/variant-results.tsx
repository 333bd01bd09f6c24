import { useTranslation } from 'react-i18next'
import { useRead } from '../../parts/data.ts'
import { Num, Rate } from '../../parts/number.tsx'
import { Card } from '../../parts/page.tsx'
import type { Campaign } from './search.ts'
import { sumsByVariant } from './variants.ts'

/** An A/B test: the results of each variant, and the winner. */
export function VariantResults({ campaign: { id, variants } }: { campaign: Campaign }) {
  const { t } = useTranslation('campaigns')
  const { data } = useRead('/api/client/campaigns/{campaignId}/delivery', { path: { campaignId: id } })
  if (!data || variants.length === 0) return null
  return (
    <Card title={t('variants.heading')}>
      <table className="rows plain-rows" aria-label={t('variants.heading')}>
        <thead>
          <tr>
            <th scope="col">{t('variants.column')}</th>
            {(['sent', 'opens', 'clicks'] as const).map((name) => (
              <th key={name} scope="col" className="num">
                {t(`engagement.${name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sumsByVariant(variants, data).map(({ letter, name, sent, opens, clicks }) => (
            <tr key={letter}>
              <th scope="row">
                {letter} · {name}
                {data.winner?.variant === letter && <span className="r">{t('variants.won')}</span>}
              </th>
              <td className="num">
                <Num value={sent} />
              </td>
              {[opens, clicks].map((part, index) => (
                <td key={index === 0 ? 'opens' : 'clicks'} className="num">
                  <Num value={part} />
                  <span className="r">
                    <Rate part={part} whole={sent} />
                  </span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}
