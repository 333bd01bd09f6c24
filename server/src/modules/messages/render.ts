/** From a template to the finished message of one person. Pure. */

import type { ProjectId } from '../../lib/ids.ts'
import { LiquidError } from '../../lib/liquid.ts'
import type { Channel } from '../../lib/shapes.ts'
import { compose, type Rendered } from '../channels/index.ts'
import type { UserRow } from '../users/index.ts'
import type { SendingCampaign } from './decide.ts'
import type { ClaimedMessage } from './schema.ts'

/** The project as templates see it. */
export type SendingProject = { id: ProjectId; name: string; locale: string; timezone: string }

/** Fills in every string of a template's content; throws `LiquidError`. */
export type RenderContent = (channel: Channel, content: Record<string, unknown>, scope: Record<string, unknown>) => Record<string, unknown>

type Material = { campaign: SendingCampaign; person: UserRow; template: { data: Record<string, unknown> } }

/** The finished message, or why the template came to nothing. */
export function render(
  renderContent: RenderContent,
  project: SendingProject,
  message: ClaimedMessage,
  { campaign, person, template }: Material,
): Rendered | { problem: string } {
  try {
    const filled = renderContent(message.channel, template.data, scopeOf(project, message, campaign, person))
    return compose(message.channel, filled, person)
  } catch (error) {
    if (!(error instanceof LiquidError)) throw error
    return { problem: `The template failed on line ${error.line}: ${error.message}.` }
  }
}

/** What templates may speak of. Times are ISO 8601, which the `date` filter reads. */
export function scopeOf(project: SendingProject, { event }: Pick<ClaimedMessage, 'event'>, campaign: SendingCampaign, person: UserRow) {
  const { id, external_id, anonymous_id, email, phone, timezone, locale, data, has_push_device, created_at } = person
  return {
    user: { id, external_id, anonymous_id, email, phone, timezone, locale, data, has_push_device, created_at: created_at.toISOString() },
    event: event ?? {},
    campaign: { id: campaign.id, name: campaign.name },
    project: { id: project.id, name: project.name, locale: project.locale, timezone: project.timezone },
  }
}
