import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { Channel } from '../../../lib/channels.ts'
import type { DomainId } from '../../../lib/ids.ts'
import type { Utm } from '../../../lib/utm.ts'
import type { Contact, Rendered } from '../../channels/index.ts'
import { trackingBaseUrl } from '../../domains/index.ts'
import { findProject } from '../../projects/index.ts'
import type { SendableTemplate } from '../../templates/index.ts'
import { prepareTest } from './prepare.ts'
import type { RenderInput } from './render.ts'
import { renderMessages } from './render-messages.ts'

/** A test send: a message for a user, to a contact who may be another one. */
export type TestMessage = Pick<RenderInput, 'id' | 'event' | 'isTransactional' | 'user'> & {
  channel: Channel
  campaign: RenderInput['campaign'] & { custom_domain_id: DomainId | null; utm: Utm | null }
  template: SendableTemplate
  to: Contact
}

/** Renders a test send as its message would be rendered, with its headers, or says why it cannot be. */
export async function renderTest(
  ctx: ProjectCtx,
  { channel, campaign, template, to, ...message }: TestMessage,
): Promise<{ rendered: Rendered; headers: Record<string, string> } | { problem: string }> {
  const project = await findProject(ctx, ctx.projectId)
  const prepared = await prepareTest(ctx, project, channel, template, campaign.utm !== null)
  const trackingUrl = await trackingBaseUrl(ctx, campaign.custom_domain_id)
  const { id, name, subscription_id, utm } = campaign
  const input = { ...message, campaign: { id, name, subscription_id }, template: prepared, trackingUrl, utm, testFor: to }
  const [result] = await renderMessages(ctx, project, channel, [input])
  return !result || 'skipped' in result ? { problem: 'Rendering was stopped.' } : result
}
