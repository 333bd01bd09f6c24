import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Card } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay, useProject } from '../../session/project.tsx'
import { useCampaigns } from './sending.tsx'

const SHOWN_MAX = 5

/** The campaigns that were begun and not launched, most recently changed first, each with a link that continues it. */
export function Drafts() {
  const { t } = useTranslation('home')
  const project = String(useProject().id)
  const mayWrite = useMay('editor')
  const { data } = useCampaigns()
  const drafts = (data?.results ?? []).filter(({ state }) => state === 'draft')
  if (!mayWrite || drafts.length === 0) return null
  return (
    <Card title={t('drafts.heading')} aside={drafts.length}>
      <ul className="lines">
        {drafts.slice(0, SHOWN_MAX).map(({ id, name, updated_at }) => (
          <li key={id}>
            <Link className="plain" to="/p/$project/campaigns/$campaignId/edit" params={{ project, campaignId: String(id) }}>
              {name}
            </Link>
            <span className="quiet sm">
              <Time at={updated_at} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
