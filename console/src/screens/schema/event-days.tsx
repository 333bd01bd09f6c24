import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useRead } from '../../parts/data.ts'
import { DayBars, useDay } from '../../parts/day-bars.tsx'
import { DAY_MS, type DayValue, dayOf, everyDay } from '../../parts/days.ts'
import { Drawer } from '../../parts/drawer.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Num } from '../../parts/number.tsx'
import { TabBar } from '../../parts/tabs.tsx'
import { RANGES, type Range } from './view.ts'

const PATH = '/api/client/events/stats'

type Props = { name: string; range: Range; onRange: (range: Range) => void; onClose: () => void }

/** How often an event occurred, by day, beside the list of events. */
export function EventDays({ name, range, onRange, onClose }: Props) {
  const { t } = useTranslation('schema')
  const [now] = useState(Date.now)
  const query = { name, since: dayOf(now - (range - 1) * DAY_MS) }
  const { data, error, refetch } = useRead(PATH, { query }, { keepsPrevious: true })
  return (
    <Drawer
      label={t('days.of', { name })}
      heading={<code>{name}</code>}
      isRead={data !== undefined}
      actions={<CopyAs label={t('days.more')} request={{ method: 'GET', path: PATH, query }} />}
      onClose={onClose}
    >
      <div className="tools">
        <TabBar
          label={t('days.range')}
          isSmall
          tabs={RANGES.map((count) => ({ id: String(count), label: t('days.last', { count }) }))}
          current={String(range)}
          onChange={(id) => onRange(Number(id) as Range)}
        />
      </div>
      {error && <Failed error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && <Days days={everyDay(data.since, data.until, data.results[0]?.days ?? [])} />}
    </Drawer>
  )
}

function Days({ days }: { days: DayValue[] }) {
  const { t, i18n } = useTranslation('schema')
  const day = useDay()
  const number = new Intl.NumberFormat(i18n.language)
  const sum = days.reduce((sum, { value }) => sum + value, 0)
  const best = days.toSorted((a, b) => b.value - a.value)[0]
  const words = t('days.sum', { count: days.length, sum: number.format(sum) })
  const most = !best?.value ? '' : ` ${t('days.most', { day: day(best.day), most: number.format(best.value) })}`
  return (
    <>
      <DayBars days={days} words={words + most} />
      <details className="day-table">
        <summary>{t('days.table')}</summary>
        <table className="rows plain-rows" aria-label={t('days.table')}>
          <thead>
            <tr>
              <th scope="col">{t('days.day')}</th>
              <th scope="col" className="num">
                {t('column.count')}
              </th>
            </tr>
          </thead>
          <tbody>
            {days.toReversed().map((one) => (
              <tr key={one.day}>
                <th scope="row">{day(one.day)}</th>
                <td className="num">
                  <Num value={one.value} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  )
}
