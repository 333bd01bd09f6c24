import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../parts/data.ts'
import { Num, Rate } from '../../parts/number.tsx'
import { Card } from '../../parts/page.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { csvOfCampaigns, csvOfJourneys } from './csv.ts'
import type { Counts, Report, ReportSearch } from './search.ts'

const RATES = ['delivered', 'opened', 'clicked', 'unsubscribed', 'bounced'] as const

type Row = { id: string | number; name: ReactNode; total: Counts; previous: Counts }

function CountsTable({ label, of, rows }: { label: string; of: string; rows: Row[] }) {
  const { t } = useTranslation('reports')
  return (
    <table className="rows plain-rows" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">{of}</th>
          <th scope="col" className="num">
            {t('figure.sent')}
          </th>
          <th scope="col" className="num">
            {t('column.before')}
          </th>
          {RATES.map((figure) => (
            <th key={figure} scope="col" className="num hide-s">
              {t(`figure.${figure}`)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ id, name, total, previous }) => (
          <tr key={id}>
            <th scope="row">{name}</th>
            <td className="num">
              <Num value={total.sent} />
            </td>
            <td className="num">
              <Num value={previous.sent} />
            </td>
            {RATES.map((figure) => (
              <td key={figure} className="num hide-s">
                <Rate part={total[figure]} whole={total.sent} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

type Props = { report: Report; project: string; search: ReportSearch }

/** The channels of a report. */
export function ByChannel({ report, project, search }: Props) {
  const { t } = useTranslation('reports')
  const rows = report.channels.map(({ channel, ...counts }) => ({
    id: channel,
    name: (
      <Link className="plain" to="/p/$project/reports" params={{ project }} search={{ ...search, channel }}>
        {t(`channel.${channel}.name`)}
      </Link>
    ),
    ...counts,
  }))
  return (
    <Card title={t('channels.heading')}>
      <CountsTable label={t('channels.heading')} of={t('column.channel')} rows={rows} />
    </Card>
  )
}

/** The campaigns of a report, those with the most messages first. */
export function ByCampaign({ report, project, search }: Props) {
  const { t } = useTranslation('reports')
  const { campaigns, campaigns_total, since, until } = report
  const rows = campaigns.map(({ campaign_id, name, total, previous }) => ({
    id: campaign_id,
    name: (
      <Link className="plain" to="/p/$project/reports" params={{ project }} search={{ ...search, campaign_id }}>
        {name}
      </Link>
    ),
    total,
    previous,
  }))
  const save = () => saveFile({ name: `campaigns-${since}-${until}.csv`, type: 'text/csv', text: csvOfCampaigns(report) })
  return (
    <Ranking heading={t('campaigns.heading')} all={campaigns_total} csv={t('campaigns.csv')} onSave={save}>
      <CountsTable label={t('campaigns.heading')} of={t('column.campaign')} rows={rows} />
    </Ranking>
  )
}

/** The journeys of a report, those with the most messages first. */
export function ByJourney({ report, project, search }: Props) {
  const { t } = useTranslation('reports')
  const { journeys, journeys_total, since, until } = report
  const rows = journeys.map(({ journey_id, name, total, previous }) => ({
    id: journey_id,
    name: (
      <Link className="plain" to="/p/$project/reports" params={{ project }} search={{ ...search, journey_id }}>
        {name}
      </Link>
    ),
    total,
    previous,
  }))
  const save = () => saveFile({ name: `journeys-${since}-${until}.csv`, type: 'text/csv', text: csvOfJourneys(report) })
  return (
    <Ranking heading={t('journeys.heading')} all={journeys_total} csv={t('journeys.csv')} onSave={save}>
      <CountsTable label={t('journeys.heading')} of={t('column.journey')} rows={rows} />
    </Ranking>
  )
}

const SHOWN_MAX = 100

type RankingProps = { heading: string; all: number; csv: string; onSave: () => void; children: ReactNode }

/** A table of those with the most messages, which says when there are more. */
function Ranking({ heading, all, csv, onSave, children }: RankingProps) {
  const { t } = useTranslation('reports')
  return (
    <Card
      title={heading}
      {...(all > SHOWN_MAX && { aside: t('first', { shown: SHOWN_MAX, all }) })}
      actions={
        <Button variant="default" size="xs" onClick={onSave}>
          {csv}
        </Button>
      }
    >
      {children}
    </Card>
  )
}

/** The links of a campaign with their clicks, which are counted over all time. */
export function Links({ campaignId }: { campaignId: number }) {
  const { t } = useTranslation('reports')
  const { data } = useRead('/api/client/campaigns/{campaignId}/links', { path: { campaignId } })
  if (!data || data.results.length === 0) return null
  return (
    <Card title={t('links.heading')} aside={t('links.about')}>
      <table className="rows plain-rows" aria-label={t('links.heading')}>
        <thead>
          <tr>
            <th scope="col">{t('column.link')}</th>
            <th scope="col" className="num">
              {t('links.clicks')}
            </th>
          </tr>
        </thead>
        <tbody>
          {data.results.map(({ id, url, clicks }) => (
            <tr key={id}>
              <th scope="row">
                <code className="cut">{url}</code>
              </th>
              <td className="num">
                <Num value={clicks} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}
