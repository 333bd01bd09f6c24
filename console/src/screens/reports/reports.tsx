import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useRead } from '../../parts/data.ts'
import { Empty, NoMatch } from '../../parts/empty.tsx'
import { Failed } from '../../parts/failed.tsx'
import { FilterChips } from '../../parts/filters.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Card, PageHead } from '../../parts/page.tsx'
import { TabBar } from '../../parts/tabs.tsx'
import { TypedDay } from '../../parts/typed-day.tsx'
import { useProject } from '../../session/project.tsx'
import { ByCampaign, ByChannel, ByJourney, Links } from './breakdown.tsx'
import { DaysChart } from './chart.tsx'
import './reports.css'
import { CHANNELS } from '../../parts/channels.ts'
import { queryOf, RANGES, REPORT, type Report, type ReportSearch, reportSearchOf } from './search.ts'
import { Totals } from './totals.tsx'

const route = getRouteApi('/member/p/$project/reports')

/** The results of messages in a period, compared with the previous period. */
export function Reports() {
  const { t } = useTranslation('reports')
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/reports' })
  const [now] = useState(Date.now)
  const query = queryOf(search, now)
  const report = useRead(REPORT, { query }, { keepsPrevious: true })
  const go = (search: ReportSearch) => void navigate({ search, replace: true })
  return (
    <>
      <PageHead
        title={t('title')}
        about={t('about')}
        actions={<CopyAs label={t('more')} request={{ method: 'GET', path: `${REPORT}?${new URLSearchParams(query)}` }} />}
      />
      <div className="stack">
        <Card>
          <Choices search={search} report={report.data} onSearch={go} />
        </Card>
        {report.isPending && <Loading />}
        {report.error && <Failed error={report.error} onRetry={() => void report.refetch()} />}
        {report.data && <Shown report={report.data} search={search} onSearch={go} />}
      </div>
    </>
  )
}

type ChoicesProps = { search: ReportSearch; report: Report | undefined; onSearch: (search: ReportSearch) => void }

/** The range and the filters. */
function Choices({ search, report, onSearch }: ChoicesProps) {
  const { t } = useTranslation('reports')
  const { days, since, until, ...others } = search
  const current = since ? '' : String(days ?? 30)
  const [first, last] = [since ?? report?.since ?? '', until ?? report?.until ?? '']
  const filters = [
    { id: 'channel', label: t('column.channel'), values: CHANNELS.map((value) => ({ value, label: t(`channel.${value}.name`) })) },
    {
      id: 'campaign_id',
      label: t('column.campaign'),
      values: (report?.campaigns ?? []).slice(0, 20).map(({ campaign_id, name }) => ({ value: String(campaign_id), label: name })),
    },
    {
      id: 'journey_id',
      label: t('column.journey'),
      values: (report?.journeys ?? []).slice(0, 20).map(({ journey_id, name }) => ({ value: String(journey_id), label: name })),
    },
  ]
  const range = (since: string, until: string) => onSearch(reportSearchOf({ ...others, since, until }))
  return (
    <div className="tools report-choices">
      <TabBar
        label={t('range.label')}
        isSmall
        tabs={RANGES.map((days) => ({ id: String(days), label: t('range.days', { count: days }) }))}
        current={current}
        onChange={(days) => onSearch(reportSearchOf({ ...others, days }))}
      />
      <TypedDay type="date" aria-label={t('range.since')} value={first} max={last} onChange={(day) => range(day, last)} />
      <TypedDay type="date" aria-label={t('range.until')} value={last} min={first} onChange={(day) => range(first, day)} />
      <FilterChips
        filters={filters.filter(({ values, id }) => values.length > 0 || search[id as 'campaign_id' | 'journey_id'])}
        chosen={{ channel: search.channel, campaign_id: search.campaign_id?.toString(), journey_id: search.journey_id?.toString() }}
        onChange={(id, value) => onSearch(reportSearchOf({ ...search, [id]: value }))}
      />
    </div>
  )
}

type ShownProps = { report: Report; search: ReportSearch; onSearch: (search: ReportSearch) => void }

function Shown({ report, search, onSearch }: ShownProps) {
  const { t } = useTranslation('reports')
  const project = String(useProject().id)
  const { figure = 'delivered', channel, campaign_id, journey_id } = search
  if (report.total.messages === 0 && report.previous.messages === 0) {
    return <Card>{channel || campaign_id || journey_id ? <NoMatch onClear={() => onSearch({})} /> : <Empty>{t('empty')}</Empty>}</Card>
  }
  return (
    <>
      <DaysChart report={report} figure={figure} onFigure={(figure) => onSearch({ ...search, figure })} />
      <Totals report={report} />
      {report.channels.length > 1 && <ByChannel report={report} project={project} search={search} />}
      {!campaign_id && report.campaigns.length > 0 && <ByCampaign report={report} project={project} search={search} />}
      {!journey_id && report.journeys.length > 0 && <ByJourney report={report} project={project} search={search} />}
      {campaign_id && <Links campaignId={campaign_id} />}
    </>
  )
}
