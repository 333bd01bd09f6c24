import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useProject } from '../session/project.tsx'
import { useRead } from './data.ts'

/** The objects that others refer to by a number. */
export type Named = 'campaign' | 'list' | 'journey'

/** Names change seldom, and a page shows the same ones again and again. */
const KEPT = { staleTime: 300_000 }

/** The name of a campaign, list or journey, as a link to it. Until it is read, or when it cannot be, its number. */
export function ObjectName({ kind, id }: { kind: Named; id: number }) {
  const NameOf = NAMES[kind]
  return <NameOf id={id} />
}

const NAMES = { campaign: CampaignName, list: ListName, journey: JourneyName }

function CampaignName({ id }: { id: number }) {
  const { t } = useTranslation()
  const project = String(useProject().id)
  const { data } = useRead('/api/client/campaigns/{campaignId}', { path: { campaignId: id } }, KEPT)
  return (
    <Link className="plain" to="/p/$project/campaigns/$campaignId" params={{ project, campaignId: String(id) }}>
      {data?.name ?? t('numbered.campaign', { id })}
    </Link>
  )
}

function ListName({ id }: { id: number }) {
  const { t } = useTranslation()
  const project = String(useProject().id)
  const { data } = useRead('/api/client/lists/{listId}', { path: { listId: id } }, KEPT)
  return (
    <Link className="plain" to="/p/$project/lists/$listId" params={{ project, listId: String(id) }}>
      {data?.name ?? t('numbered.list', { id })}
    </Link>
  )
}

function JourneyName({ id }: { id: number }) {
  const { t } = useTranslation()
  const project = String(useProject().id)
  const { data } = useRead('/api/client/journeys/{journeyId}', { path: { journeyId: id } }, KEPT)
  return (
    <Link className="plain" to="/p/$project/journeys/$journeyId" params={{ project, journeyId: String(id) }}>
      {data?.name ?? t('numbered.journey', { id })}
    </Link>
  )
}
