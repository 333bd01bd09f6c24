import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { AddButton } from '../../parts/add-button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { useRead } from '../../parts/data.ts'
import type { Column } from '../../parts/data-table.tsx'
import { ListPage } from '../../parts/list-page.tsx'
import { LIVE_MS } from '../../parts/live/interval.ts'
import { Num } from '../../parts/number.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay, useProject } from '../../session/project.tsx'
import { CAMPAIGNS, type Campaign } from './search.ts'

const route = getRouteApi('/member/p/$project/campaigns')

/** The campaigns of the project, with their states and what they sent. */
export function Campaigns() {
  const { t } = useTranslation('campaigns')
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/p/$project/campaigns' })
  const project = useProject()
  const mayWrite = useMay('editor')
  const query = { ...search, limit: 50, sort: 'updated_at' as const, direction: 'desc' as const }
  const campaigns = useRead(CAMPAIGNS, { query }, { keepsPrevious: true, refetchInterval: 5 * LIVE_MS })
  const create = mayWrite && (
    <AddButton onClick={() => void navigate({ to: '/p/$project/campaigns/new', params: { project: String(project.id) } })}>
      {t('create')}
    </AddButton>
  )
  return (
    <ListPage
      title={t('title')}
      about={t('about')}
      more={t('more')}
      request={{ path: CAMPAIGNS, query }}
      columns={useColumns()}
      rows={campaigns}
      search={search}
      onSearch={(search, replace) => void navigate({ search, replace })}
      searchLabel={t('search')}
      empty={t('empty')}
      action={create}
      emptyActions={create}
    />
  )
}

function useColumns(): Column<Campaign>[] {
  const { t } = useTranslation('campaigns')
  const project = useProject()
  return [
    {
      id: 'name',
      label: t('column.name'),
      cell: ({ id, name, type, channel }) => (
        <>
          <Link className="plain" to="/p/$project/campaigns/$campaignId" params={{ project: String(project.id), campaignId: String(id) }}>
            {name}
          </Link>
          <span className="r">
            {t(`type.${type}`)} · {t(`channel.${channel}`)}
          </span>
        </>
      ),
    },
    {
      id: 'state',
      label: t('column.state'),
      cell: ({ state, is_paused }) => (
        <span className="chips">
          <Chip state={state} /> {is_paused && <Chip state="paused" />}
        </span>
      ),
    },
    { id: 'sent', label: t('column.sent'), isWide: true, cell: (campaign) => <Sent campaign={campaign} /> },
    {
      id: 'clicks',
      label: t('column.clicks'),
      isNumber: true,
      isExtra: true,
      cell: ({ delivery }) => <Num value={delivery.clicks} />,
    },
    { id: 'when', label: t('column.when'), isNumber: true, isExtra: true, cell: (campaign) => <When campaign={campaign} /> },
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

function When({ campaign: { state, send_at, started_at, finished_at, updated_at } }: { campaign: Campaign }) {
  const { t } = useTranslation('campaigns')
  const [word, at] =
    state === 'scheduled' && send_at
      ? (['starts', send_at] as const)
      : finished_at
        ? (['ended', finished_at] as const)
        : started_at
          ? (['started', started_at] as const)
          : (['changed', updated_at] as const)
  return (
    <>
      <Time at={at} />
      <span className="r">{t(`when.${word}`)}</span>
    </>
  )
}
