/** What would happen to messages of campaigns that nothing sends, for simulations of journeys. */
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { mapWithConcurrency } from '../../lib/concurrency.ts'
import type { CampaignId, UserId } from '../../lib/ids.ts'
import type { Contact } from '../channels/index.ts'
import { skipReasonFor } from '../messages/index.ts'
import { findProject } from '../projects/index.ts'
import { type Consent, subscriptionStates } from '../subscriptions/index.ts'
import { asCallerSees, type Content, chooseTemplate, sampleLinks, scopeOf, templatesOf, tryRender } from '../templates/index.ts'
import type { UserRow } from '../users/index.ts'
import { isInShare } from './audience/buckets.ts'
import { variantFor } from './audience/plan.ts'
import { findCampaigns } from './queries.ts'
import type { CampaignRow } from './schema.ts'

/** A campaign with the settings of its subscription type. */
export type SimulatedCampaign = { campaign: CampaignRow; type: Omit<Consent, 'user_id' | 'consent_id'> | undefined }

/** No user has this id, so the state is the default of the type. */
const NO_USER = Number.MAX_SAFE_INTEGER as UserId

/** The campaigns among these ids that exist. */
export async function simulatedCampaigns(ctx: ProjectCtx, ids: CampaignId[]): Promise<Map<CampaignId, SimulatedCampaign>> {
  const rows = ids.length > 0 ? await findCampaigns(ctx, ids) : []
  const types = [...new Set(rows.map(({ subscription_id }) => subscription_id))]
  const states =
    types.length > 0
      ? await subscriptionStates(
          ctx,
          types.map((subscription_id) => ({ user_id: NO_USER, subscription_id })),
        )
      : []
  return new Map(
    rows.map((campaign) => [
      campaign.id,
      { campaign, type: states.find(({ subscription_id }) => subscription_id === campaign.subscription_id) },
    ]),
  )
}

/** Whether steps of journeys can send the campaign. */
export const isSendable = ({ campaign }: SimulatedCampaign): boolean => campaign.type === 'trigger' && campaign.state === 'running'

/** Why a user would get no message of the campaign, or null. */
export function reasonAgainst(
  { campaign, type }: SimulatedCampaign,
  user: Contact & { id: number },
  state: 0 | 1 | 2,
  isSuppressed: boolean,
  isExcluded: boolean,
): string | null {
  const consent = type && { ...type, user_id: user.id as UserId, consent_id: null, state }
  const suppression = isSuppressed ? ('manual' as const) : undefined
  const reason = skipReasonFor(campaign.channel, { user, consent, suppression, isExcluded })
  return reason ?? (isInShare('holdout', campaign.holdout_percent, campaign.id, user.id as UserId) ? 'holdout' : null)
}

/** A message to be rendered. */
export type SimulatedContent = { campaign: CampaignRow; user: UserRow; event: Record<string, unknown> }

const RENDERED_AT_ONCE = 8

/** Renders messages as the caller may see them. */
export async function renderSimulated(
  ctx: ProjectCtx,
  messages: SimulatedContent[],
): Promise<({ content: Content } | { problem: string })[]> {
  if (messages.length === 0) return []
  const project = await findProject(ctx, ctx.projectId)
  const templates = await templatesOf(ctx, [...new Set(messages.map(({ campaign }) => campaign.id))])
  return mapWithConcurrency(messages, RENDERED_AT_ONCE, async ({ campaign, user, event }) => {
    const own = templates.filter(({ campaign_id }) => campaign_id === campaign.id)
    const template = chooseTemplate(own, user.locale, ctx.project.locale, variantFor(campaign, user) ?? 0)
    if (!template) return { problem: 'There is no template.' }
    const scope = { ...scopeOf(project, { event }, campaign, await asCallerSees(ctx, user)), ...sampleLinks(ctx, campaign, user) }
    return tryRender(ctx, campaign.channel, template, scope)
  })
}
