import { useTranslation } from 'react-i18next'
import { Rate } from '../../parts/number.tsx'
import { clock } from '../../parts/time.tsx'
import './webhooks.css'
import type { Attempts } from './search.ts'

type AttemptHours = Attempts['endpoints'][number]['hours']

const HOURS = 24
const HOUR_MS = 3_600_000

const rateOf = ({ succeeded, failed }: AttemptHours[number]) => succeeded / (succeeded + failed)

/** The attempts of an endpoint: the share that succeeded in each hour, and in words how many of all attempts succeeded. */
export function AttemptBars({ firstHour, hours }: { firstHour: string; hours: AttemptHours }) {
  const { t } = useTranslation('webhooks')
  const words = useWords(hours)
  const succeeded = hours.reduce((sum, { succeeded }) => sum + succeeded, 0)
  const whole = hours.reduce((sum, { failed }) => sum + failed, succeeded)
  if (hours.length === 0) return <span className="quiet">–</span>
  const first = Date.parse(firstHour)
  return (
    <span className="attempt-hours">
      <svg viewBox={`0 0 ${HOURS} 20`} preserveAspectRatio="none" role="img" aria-label={words}>
        {hours.map((hour) => {
          const height = 20 * rateOf(hour)
          const x = (Date.parse(hour.hour) - first) / HOUR_MS + 0.1
          return (
            <g key={hour.hour}>
              <rect className="failed" x={x} y={0} width={0.8} height={20 - height} />
              <rect className="succeeded" x={x} y={20 - height} width={0.8} height={height} />
            </g>
          )
        })}
      </svg>
      <span>
        <Rate part={succeeded} whole={whole} /> {t('attempts.accepted')}
      </span>
    </span>
  )
}

/** What the bars show, for those who do not see them: the hours with attempts, and the worst of them. */
function useWords(hours: AttemptHours): string {
  const { t, i18n } = useTranslation('webhooks')
  const failing = hours.filter(({ failed }) => failed > 0)
  const worst = failing.toSorted((a, b) => rateOf(a) - rateOf(b))[0]
  if (!worst) return t('attempts.allSucceeded')
  const percent = new Intl.NumberFormat(i18n.language, { style: 'percent', maximumFractionDigits: 1 }).format(rateOf(worst))
  return t('attempts.worst', { hours: hours.length, failing: failing.length, time: clock(i18n.language, { at: worst.hour }), percent })
}
