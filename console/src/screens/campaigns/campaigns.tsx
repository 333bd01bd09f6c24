import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { AddButton } from '../../parts/add-button.tsx'
import { useArchivedColumns, useArchivedFilter } from '../../parts/archived.tsx'
import { type ArchivedSearch, archivedQueryOf } from '../../parts/archived-search.ts'
import { Chip } from '../../parts/chip.tsx'
import { useRead } from '../../parts/data.ts'
import { ListPage } from '../../parts/list-page.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { Num } from '../../parts/number.tsx'
import { PageHead } from '../../parts/page.tsx'
import type { SavedColumn } from '../../parts/save-rows.ts'
import { Time } from '../../parts/time.tsx'
import { useMay, useProject } from '../../session/project.tsx'
import { Calendar } from './calendar.tsx'
import { CAMPAIGNS, type Campaign } from './search.ts'
import { startOf } from './start.ts'
import { ViewSwitch } from './view-switch.tsx'

const route = getRouteApi('/member/p/$project/campaigns')

/** The campaigns of the project, with their states and what they sent, as a list or by day. */
export function Campaigns() {
  const { t } = useTranslation('campaigns')
  const { view, month, ...search } = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/campaigns' })
  const project = useProject()
  const mayWrite = useMay('editor')
  const create = mayWrite && (
    <AddButton onClick={() => void navigate({ to: '/p/$project/campaigns/new', params: { project: String(project.id) } })}>
      {t('create')}
    </AddButton>
  )
  if (view !== 'calendar') return <CampaignList search={search} create={create} />
  return (
    <>
      <PageHead title={t('title')} about={t('about')} actions={create} />
      <Calendar
        month={month}
        onMonth={(month) => void navigate({ search: { view, ...(month && { month }) } })}
        onList={() => void navigate({ search: {} })}
      />
    </>
  )
}

function CampaignList({ search, create }: { search: ArchivedSearch; create: ReactNode }) {
  const navigate = useNavigate({ from: '/p/$project/campaigns' })
  const query = { ...archivedQueryOf(search), limit: 50, sort: 'updated_at' as const, direction: 'desc' as const }
  const campaigns = useRead(CAMPAIGNS, { query }, { keepsPrevious: true, refetchInterval: 5 * LIVE_MS })
  return (
    <ListPage
      texts="campaigns"
      request={{ path: CAMPAIGNS, query }}
      columns={useColumns(search.show === 'archived')}
      rows={campaigns}
      search={search}
      filters={[useArchivedFilter()]}
      tools={<ViewSwitch view="list" onView={() => void navigate({ search: { view: 'calendar' } })} />}
      action={create}
      emptyActions={create}
    />
  )
}

function useColumns(isArchived: boolean): SavedColumn<Campaign>[] {
  const archived = useArchivedColumns<Campaign>('campaign', ({ state }) => state === 'draft')
  const { t } = useTranslation('campaigns')
  const project = useProject()
  const last: SavedColumn<Campaign> = {
    id: 'when',
    label: t('column.when'),
    isNumber: true,
    isExtra: true,
    text: (campaign) => whenOf(campaign)[1],
    also: [{ label: t('csv.what'), text: (campaign) => t(`when.${whenOf(campaign)[0]}`) }],
    cell: (campaign) => <When campaign={campaign} />,
  }
  return [
    {
      id: 'name',
      label: t('column.name'),
      text: ({ name }) => name,
      also: [
        { label: t('csv.id'), text: ({ id }) => id },
        { label: t('csv.type'), text: ({ type }) => t(`type.${type}`) },
        { label: t('csv.channel'), text: ({ channel }) => t(`channel.${channel}.ofCampaign`) },
      ],
      cell: ({ id, name, type, channel }) => (
        <>
          {isArchived ? (
            name
          ) : (
            <Link className="plain" to="/p/$project/campaigns/$campaignId" params={{ project: String(project.id), campaignId: String(id) }}>
              {name}
            </Link>
          )}
          <span className="r">
            {t(`type.${type}`)} · {t(`channel.${channel}.ofCampaign`)}
          </span>
        </>
      ),
    },
    {
      id: 'state',
      label: t('column.state'),
      text: ({ state }) => state,
      also: [{ label: t('csv.paused'), text: ({ is_paused }) => t(is_paused ? 'rule.yes' : 'rule.no') }],
      cell: ({ state, is_paused }) => (
        <span className="chips">
          <Chip state={state} /> {is_paused && <Chip state="paused" />}
        </span>
      ),
    },
    {
      id: 'sent',
      label: t('column.sent'),
      isWide: true,
      text: ({ delivery }) => delivery.sent,
      also: [{ label: t('csv.total'), text: ({ delivery }) => delivery.total }],
      cell: (campaign) => <Sent campaign={campaign} />,
    },
    {
      id: 'clicks',
      label: t('column.clicks'),
      text: ({ delivery }) => delivery.clicks,
      isNumber: true,
      isExtra: true,
      cell: ({ delivery }) => <Num value={delivery.clicks} />,
    },
    ...(isArchived ? archived : [last]),
  ]
}

/** How many messages were sent, of how many. */
function Sent({ campaign: { name, delivery, state, type } }: { campaign: Campaign }) {
  const { t, i18n } = useTranslation('campaigns')
  if (delivery.total === 0) return <span className="quiet">{state === 'draft' ? t('notYet') : '–'}</span>
  const number = new Intl.NumberFormat(i18n.language)
  const words = t('sentOf', { sent: number.format(delivery.sent), total: number.format(delivery.total) })
  return (
    <>
      {words}
      {type === 'blast' && <meter className="sent" min={0} max={delivery.total} value={delivery.sent} aria-label={`${name}: ${words}`} />}
    </>
  )
}

/** The last or next time of a campaign, and what happens at it. */
function whenOf({ state, send_at, started_at, finished_at, updated_at }: Campaign) {
  if (state === 'scheduled' && send_at) return ['starts', send_at] as const
  if (finished_at) return ['ended', finished_at] as const
  return started_at ? (['started', started_at] as const) : (['changed', updated_at] as const)
}

function When({ campaign }: { campaign: Campaign }) {
  const { t, i18n } = useTranslation('campaigns')
  const [word, at] = whenOf(campaign)
  const isLocal = word === 'starts' && campaign.send_in_user_timezone
  return (
    <>
      {isLocal ? startOf({ ...campaign, send_at: at }, t, i18n.language) : <Time at={at} />}
      <span className="r">{t(`when.${word}`)}</span>
    </>
  )
}
