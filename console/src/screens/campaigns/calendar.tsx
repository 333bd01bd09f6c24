import { ActionIcon, Button } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Chip } from '../../parts/chip.tsx'
import { keyOf } from '../../parts/data.ts'
import { Failed } from '../../parts/failed.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Card } from '../../parts/page.tsx'
import { type Paged, readAll } from '../../parts/paging.ts'
import { useApi, useProject } from '../../session/project.tsx'
import './calendar.css'
import { byDay, type Entry, laterMonth, localOf, weeksOf } from './months.ts'
import { CAMPAIGNS, type Campaign } from './search.ts'
import { ViewSwitch } from './view-switch.tsx'

const READ_MAX = 500
const query = { limit: 100, sort: 'updated_at', direction: 'desc' } as const

/** The campaigns that were changed last, all that the calendar knows. */
function useLatest() {
  const api = useApi()
  const { id } = useProject()
  const read = (cursor: string | undefined): Promise<Paged<Campaign>> =>
    api.get(CAMPAIGNS, { query: { ...query, ...(cursor && { cursor }) } })
  return useQuery({ queryKey: keyOf(id, CAMPAIGNS, { upTo: READ_MAX }), queryFn: () => readAll(read, READ_MAX) })
}

type Props = { month: string | undefined; onMonth: (month: string | undefined) => void; onList: () => void }

/** A calendar month with the campaigns that begin, or began, on each day. */
export function Calendar({ month, onMonth, onList }: Props) {
  const { t, i18n } = useTranslation('campaigns')
  const { timezone } = useProject()
  const [now] = useState(Date.now)
  const today = localOf(new Date(now).toISOString(), timezone).day
  const shown = month ?? today.slice(0, 7)
  const { data, error, refetch } = useLatest()
  const title = new Intl.DateTimeFormat(i18n.language, { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(new Date(`${shown}-01`))
  return (
    <Card
      title={title}
      aside={t('calendar.zone', { zone: timezone })}
      actions={<MonthButtons shown={shown} onMonth={onMonth} onList={onList} />}
      footer={data?.isCut && <p className="quiet sm">{t('calendar.cut', { count: READ_MAX })}</p>}
    >
      {error && <Failed error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && <Month month={shown} title={title} today={today} entries={byDay(data.rows, timezone)} />}
    </Card>
  )
}

function MonthButtons({ shown, onMonth, onList }: { shown: string } & Pick<Props, 'onMonth' | 'onList'>) {
  const { t } = useTranslation('campaigns')
  return (
    <>
      <ActionIcon variant="default" size={32} aria-label={t('calendar.previous')} onClick={() => onMonth(laterMonth(shown, -1))}>
        <IconChevronLeft size={16} stroke={1.5} aria-hidden />
      </ActionIcon>
      <Button variant="default" size="xs" onClick={() => onMonth(undefined)}>
        {t('calendar.today')}
      </Button>
      <ActionIcon variant="default" size={32} aria-label={t('calendar.next')} onClick={() => onMonth(laterMonth(shown, 1))}>
        <IconChevronRight size={16} stroke={1.5} aria-hidden />
      </ActionIcon>
      <ViewSwitch view="calendar" onView={onList} />
    </>
  )
}

type MonthProps = { month: string; title: string; today: string; entries: Map<string, Entry<Campaign>[]> }

function Month({ month, title, today, entries }: MonthProps) {
  const { t, i18n } = useTranslation('campaigns')
  const weekday = new Intl.DateTimeFormat(i18n.language, { weekday: 'short', timeZone: 'UTC' })
  const inFull = new Intl.DateTimeFormat(i18n.language, { weekday: 'long', day: 'numeric', month: 'long', timeZone: 'UTC' })
  const weeks = weeksOf(month)
  const isEmpty = weeks.flat().every((day) => !day.startsWith(month) || !entries.has(day))
  return (
    <>
      {isEmpty && <p className="quiet sm pad">{t('calendar.empty')}</p>}
      <table className="calendar" aria-label={title}>
        <thead>
          <tr>
            {weeks[0]?.map((day) => (
              <th key={day} scope="col">
                {weekday.format(new Date(day))}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((week) => (
            <tr key={week[0]}>
              {week.map((day) => {
                const own = day.startsWith(month) ? (entries.get(day) ?? []) : []
                return (
                  <td
                    key={day}
                    className={own.length > 0 ? 'has' : day.startsWith(month) ? undefined : 'other'}
                    aria-current={day === today ? 'date' : undefined}
                  >
                    <time dateTime={day}>
                      <span aria-hidden>{Number(day.slice(8))}</span>
                      <span className="in-full">{inFull.format(new Date(day))}</span>
                    </time>
                    {own.length > 0 && (
                      <ul>
                        {own.map((entry) => (
                          <Item key={entry.campaign.id} {...entry} />
                        ))}
                      </ul>
                    )}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

function Item({ campaign: { id, name, state, is_paused }, day, time, isLocal }: Entry<Campaign>) {
  const { t, i18n } = useTranslation('campaigns')
  const project = useProject()
  const params = { project: String(project.id), campaignId: String(id) }
  const clock = new Intl.DateTimeFormat(i18n.language, { hour: 'numeric', minute: '2-digit', timeZone: 'UTC' })
  const at = clock.format(new Date(`${day}T${time}Z`))
  return (
    <li>
      <Link className="plain" to="/p/$project/campaigns/$campaignId" params={params}>
        {name}
      </Link>
      <span className="r">{isLocal ? t('calendar.local', { at }) : at}</span>
      <Chip state={is_paused ? 'paused' : state} />
    </li>
  )
}
