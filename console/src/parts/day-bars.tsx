import { useTranslation } from 'react-i18next'
import type { DayValue } from './days.ts'
import { Num } from './number.tsx'

/** Days as they are written in the language of the console. Days are in UTC. */
export function useDay(): (day: string) => string {
  const { i18n } = useTranslation()
  const format = new Intl.DateTimeFormat(i18n.language, { dateStyle: 'medium', timeZone: 'UTC' })
  return (day) => format.format(Date.parse(day))
}

/** A number by day, the earliest first, as bars from zero and in words. */
export function DayBars({ days, words }: { days: DayValue[]; words: string }) {
  const day = useDay()
  const most = Math.max(1, ...days.map(({ value }) => value))
  return (
    <figure className="day-bars">
      <figcaption>{words}</figcaption>
      <span className="most" aria-hidden>
        <Num value={most} />
      </span>
      <svg viewBox={`0 0 ${days.length} 100`} preserveAspectRatio="none" role="img" aria-label={words}>
        {days.map(({ day, value }, index) => {
          const height = (100 * value) / most
          return <rect key={day} x={index + 0.1} y={100 - height} width={0.8} height={height} />
        })}
      </svg>
      <span className="ends" aria-hidden>
        {[days[0], days.at(-1)].map((end, index) => (
          <span key={index === 0 ? 'first' : 'last'}>{end && day(end.day)}</span>
        ))}
      </span>
    </figure>
  )
}
