import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { MessageId } from '../../../lib/ids.ts'
import type { Rendered } from '../../channels/index.ts'
import { findProject } from '../../projects/index.ts'
import { asCallerSees, chooseTemplate, type SendableTemplate, sendableTemplatesOf } from '../../templates/index.ts'
import { findLiveUsers } from '../../users/index.ts'
import { loadRequests, templateOf } from '../requests/service.ts'
import type { FindSendingCampaigns } from '../sending/find-sending-campaigns.ts'
import { untracked } from '../sending/prepare.ts'
import { renderMessages } from '../sending/render-messages.ts'
import { findViewed } from './queries.ts'

/** A message with the template that it was rendered from. */
type RenderedAgain = Rendered & { template: SendableTemplate }

/**
 * A message as its user would get it now, without tracking, as far as the caller may read the user. Null if it is not available. Values that
 * its request redacted are not in it.
 */
export async function renderAgain(
  ctx: ProjectCtx,
  findSendingCampaigns: FindSendingCampaigns,
  id: MessageId,
): Promise<RenderedAgain | null> {
  const message = await findViewed(ctx, id)
  if (!message) return null
  const user = (await findLiveUsers(ctx, [message.user_id])).get(message.user_id)
  const [campaign] = await findSendingCampaigns(ctx, [message.campaign_id], 'archived')
  const request = (await loadRequests(ctx, [message])).get(message.id)
  const templates = await sendableTemplatesOf(ctx, [message.campaign_id])
  const template =
    (request && templateOf(message.campaign_id, request)) ??
    chooseTemplate(templates, request?.locale ?? user?.locale ?? null, ctx.project.locale, message.variant ?? 0)
  if (!user || !campaign || !template) return null
  const project = await findProject(ctx, ctx.projectId)
  const plain = { ...project, track_opens_email: false, link_wrap_email: false }
  const readable = await asCallerSees(ctx, user)
  const input = { id: message.id, event: message.event, campaign, user: readable, isTransactional: false, trackingUrl: ctx.baseUrl() }
  const [result] = await renderMessages(ctx, plain, message.channel, [{ ...input, template: untracked(template) }])
  return result && 'rendered' in result ? { ...result.rendered, template } : null
}
