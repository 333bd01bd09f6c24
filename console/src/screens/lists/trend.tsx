import type { components } from '@carillon/sdk'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../parts/data.ts'
import { useDay } from '../../parts/day-bars.tsx'
import { DAY_MS } from '../../parts/days.ts'

type List = components['schemas']['List']
type Size = { day: string; users: number }

const DAYS = 30
const HEIGHT = 20
/** Half of the line, which would be cut off at the edges. */
const MARGIN = 1

/** The sizes of the lists of a page in the last 30 days. */
export function useSizes(lists: List[] | undefined): ReadonlyMap<number, Size[]> {
  const ids = lists?.map(({ id }) => id).join() ?? ''
  const { data } = useRead('/api/client/lists/sizes', { query: { list_ids: ids } }, { enabled: ids !== '', keepsPrevious: true })
  return new Map(data?.results.map(({ list_id, days }) => [list_id, days]))
}

/** The size of a list over time: a line with the current size at its end, and the same in words. */
export function Trend({ list: { users_count }, sizes }: { list: List; sizes: Size[] | undefined }) {
  const { t, i18n } = useTranslation('lists')
  const day = useDay()
  const first = sizes?.[0]
  if (!first) return <span className="quiet">–</span>
  const number = new Intl.NumberFormat(i18n.language)
  const change = new Intl.NumberFormat(i18n.language, { signDisplay: 'exceptZero' }).format(users_count - first.users)
  const words = t('trend.words', { change, since: day(first.day), before: number.format(first.users), now: number.format(users_count) })
  return (
    <span className="trend">
      <svg viewBox={`0 0 ${DAYS} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={words}>
        <title>{words}</title>
        <polyline points={pointsOf(sizes, users_count)} />
      </svg>
      <span className="n" aria-hidden>
        {change}
      </span>
    </span>
  )
}

/** The line through the sizes, which ends with the size now. The lowest is at the bottom, because changes are small beside the size. */
function pointsOf(sizes: Size[], now: number): string {
  const start = Date.now() - DAYS * DAY_MS
  const at = (day: string) => Math.max(0, (Date.parse(day) - start) / DAY_MS)
  const points = [...sizes.map(({ day, users }) => ({ x: at(day), users })), { x: DAYS, users: now }]
  const [least, most] = [Math.min(...points.map(({ users }) => users)), Math.max(...points.map(({ users }) => users))]
  const y = (users: number) => (most === least ? HEIGHT / 2 : HEIGHT - MARGIN - ((users - least) / (most - least)) * (HEIGHT - 2 * MARGIN))
  return points.map(({ x, users }) => `${x.toFixed(1)},${y(users).toFixed(1)}`).join(' ')
}
