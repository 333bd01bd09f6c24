import type { components } from '@carillon/sdk'
import { Select } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../parts/data.ts'
import { DayBars, useDay } from '../../parts/day-bars.tsx'
import { DayTable } from '../../parts/day-table.tsx'
import { everyDay } from '../../parts/days.ts'
import { Empty } from '../../parts/empty.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Num, Rate } from '../../parts/number.tsx'
import { Card } from '../../parts/page.tsx'
import { DAYS } from './search.ts'

type Reply = components['schemas']['MailSiteDayReply']
type SiteDays = Reply['sites'][number]
type Day = SiteDays['days'][number]

const sumOf = (days: Day[], name: 'delivered' | 'bounced' | 'complained'): number => days.reduce((sum, day) => sum + day[name], 0)

/** Bounces and complaints by mailbox provider: all of them in a table, and the days of one. */
export function Trend() {
  const { t } = useTranslation('mail')
  const [chosen, setChosen] = useState<string | null>(null)
  const { data, error, refetch } = useRead(DAYS, undefined)
  if (error && !data) return <Failed error={error} onRetry={() => void refetch()} />
  if (!data) return <Loading />
  const shown = data.sites.find(({ site }) => site === chosen) ?? data.sites[0]
  if (!shown) return <Empty>{t('trend.empty')}</Empty>
  return (
    <div className="stack">
      <Card title={t('trend.heading')}>
        <SiteTable sites={data.sites} />
      </Card>
      <Card title={t('trend.byDay')}>
        <div className="pad narrow">
          <Select
            label={t('column.site')}
            allowDeselect={false}
            data={data.sites.map(({ site, label }) => ({ value: site, label }))}
            value={shown.site}
            onChange={setChosen}
          />
        </div>
        <SiteChart key={shown.site} reply={data} site={shown} />
      </Card>
    </div>
  )
}

function SiteTable({ sites }: { sites: SiteDays[] }) {
  const { t } = useTranslation('mail')
  return (
    <div className="wrap">
      <table className="rows plain-rows" aria-label={t('trend.heading')}>
        <thead>
          <tr>
            <th scope="col">{t('column.site')}</th>
            <th scope="col" className="num hide-s">
              {t('trend.delivered')}
            </th>
            <th scope="col" className="num">
              {t('trend.bounced')}
            </th>
            <th scope="col" className="num">
              {t('trend.complained')}
            </th>
          </tr>
        </thead>
        <tbody>
          {sites.map(({ site, label, days }) => {
            const [delivered, bounced] = [sumOf(days, 'delivered'), sumOf(days, 'bounced')]
            return (
              <tr key={site}>
                <th scope="row">{label}</th>
                <td className="num hide-s">
                  <Num value={delivered} />
                </td>
                <td className="num">
                  <Rate part={bounced} whole={delivered + bounced} />
                </td>
                <td className="num">
                  <Rate part={sumOf(days, 'complained')} whole={delivered} />
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

type Counted = 'bounced' | 'complained'

function SiteChart({ reply: { first_day, last_day }, site: { days, label } }: { reply: Reply; site: SiteDays }) {
  const { t } = useTranslation('mail')
  const words = useWords(days, label)
  const valuesOf = (name: Counted) =>
    everyDay(
      first_day,
      last_day,
      days.map((one) => ({ day: one.day, count: one[name] })),
    )
  return (
    <>
      {(['bounced', 'complained'] as const).map((name) => (
        <DayBars key={name} days={valuesOf(name)} words={words(name)} />
      ))}
      <details className="day-table">
        <summary>{t('trend.table')}</summary>
        <DayTable
          label={t('trend.table')}
          dayLabel={t('trend.day')}
          figures={(['delivered', 'bounced', 'complained'] as const).map((name) => ({ name, label: t(`trend.${name}`) }))}
          days={days}
        />
      </details>
    </>
  )
}

/** What the bars show, in words: the sum, and the day with the most. */
function useWords(days: Day[], label: string): (name: Counted) => string {
  const { t, i18n } = useTranslation('mail')
  const day = useDay()
  const number = new Intl.NumberFormat(i18n.language)
  return (name) => {
    const sum = sumOf(days, name)
    const worst = days.toSorted((a, b) => b[name] - a[name])[0]
    const total = t(`trend.sum.${name}`, { sum: number.format(sum), site: label })
    return sum === 0 || !worst ? total : `${total} ${t('trend.most', { day: day(worst.day), most: number.format(worst[name]) })}`
  }
}
