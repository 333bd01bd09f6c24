import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useProject } from '../session/project.tsx'
import { useRead } from './data.ts'

/** The objects that others refer to by a number. */
export type Named = 'campaign' | 'list' | 'journey'

/** Names change seldom, and a page shows the same ones again and again. */
const KEPT = { staleTime: 300_000 }

type Props = { id: number; isText?: boolean }

/**
 * The name of a campaign, list or journey, as a link to it, or as text where a link cannot be. Its id is shown until the name has been
 * read, or if it cannot be read.
 */
export function ObjectName({ kind, ...props }: Props & { kind: Named }) {
  const NameOf = NAMES[kind]
  return <NameOf {...props} />
}

const NAMES = { campaign: CampaignName, list: ListName, journey: JourneyName }

function CampaignName({ id, isText }: Props) {
  const { t } = useTranslation()
  const project = String(useProject().id)
  const { data } = useRead('/api/client/campaigns/{campaignId}', { path: { campaignId: id } }, KEPT)
  const name = data?.name ?? t('numbered.campaign', { id })
  return isText ? (
    name
  ) : (
    <Link className="plain" to="/p/$project/campaigns/$campaignId" params={{ project, campaignId: String(id) }}>
      {name}
    </Link>
  )
}

function ListName({ id, isText }: Props) {
  const { t } = useTranslation()
  const project = String(useProject().id)
  const { data } = useRead('/api/client/lists/{listId}', { path: { listId: id } }, KEPT)
  const name = data?.name ?? t('numbered.list', { id })
  return isText ? (
    name
  ) : (
    <Link className="plain" to="/p/$project/lists/$listId" params={{ project, listId: String(id) }}>
      {name}
    </Link>
  )
}

function JourneyName({ id, isText }: Props) {
  const { t } = useTranslation()
  const project = String(useProject().id)
  const { data } = useRead('/api/client/journeys/{journeyId}', { path: { journeyId: id } }, KEPT)
  const name = data?.name ?? t('numbered.journey', { id })
  return isText ? (
    name
  ) : (
    <Link className="plain" to="/p/$project/journeys/$journeyId" params={{ project, journeyId: String(id) }}>
      {name}
    </Link>
  )
}
