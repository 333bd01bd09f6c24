import type { CampaignId, ProjectId } from '../../lib/ids.ts'
import type { UserRow } from '../users/index.ts'

/** The variables of a template; `journey` for messages of journeys. Times are ISO 8601, which the `date` filter reads. */
export function scopeOf(
  project: { id: ProjectId; name: string; locale: string; timezone: string },
  { event }: { event: Record<string, unknown> | null },
  campaign: { id: CampaignId; name: string },
  user: UserRow,
) {
  const { journey, ...given } = event ?? {}
  const { id, external_id, anonymous_id, email, phone, timezone, locale, data, has_push_device, created_at } = user
  return {
    user: { id, external_id, anonymous_id, email, phone, timezone, locale, data, has_push_device, created_at: created_at.toISOString() },
    event: given,
    ...(journey !== undefined && { journey }),
    campaign: { id: campaign.id, name: campaign.name },
    project: { id: project.id, name: project.name, locale: project.locale, timezone: project.timezone },
  }
}
