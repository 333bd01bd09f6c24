import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Num, Rate } from '../../parts/number.tsx'
import { Card } from '../../parts/page.tsx'
import { useProject } from '../../session/project.tsx'
import type { Overview } from './overview.ts'

type Channel = Overview['channels'][number]
type Figure = keyof Channel['last_7_days']

/** Each figure but the first is a share of the messages that were sent. */
const SHARES = ['delivered', 'opened', 'clicked', 'bounced'] as const satisfies readonly Figure[]
/** On a narrow screen there is room for one share. */
const widthOf = (figure: Figure) => (figure === 'delivered' ? 'num' : 'num hide-s')

/** The results of each channel in seven days, compared with the seven days before. */
export function Week({ channels }: { channels: Channel[] }) {
  const { t } = useTranslation('home')
  const project = String(useProject().id)
  if (channels.length === 0) return null
  return (
    <Card
      title={t('week.heading')}
      aside={t('week.before')}
      actions={
        <Link className="b" to="/p/$project/reports" params={{ project }}>
          {t('week.reports')}
        </Link>
      }
    >
      <table className="rows plain-rows" aria-label={t('week.heading')}>
        <thead>
          <tr>
            <th scope="col">{t('week.channel')}</th>
            <th scope="col" className="num">
              {t('week.sent')}
            </th>
            {SHARES.map((figure) => (
              <th key={figure} scope="col" className={widthOf(figure)}>
                {t(`week.${figure}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {channels.map(({ channel, last_7_days: now, previous_7_days: before }) => (
            <tr key={channel}>
              <th scope="row">{t(`channel.${channel}.name`)}</th>
              <td className="num">
                <Num value={now.sent} />
                <span className="r">
                  <Num value={before.sent} />
                </span>
              </td>
              {SHARES.map((figure) => (
                <td key={figure} className={widthOf(figure)}>
                  <Rate part={now[figure]} whole={now.sent} />
                  <span className="r">
                    <Rate part={before[figure]} whole={before.sent} />
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
