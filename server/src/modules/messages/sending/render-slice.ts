/** Renders the messages of a slice. Those whose request redacted values are rendered a second time, as they may be shown. */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { Channel } from '../../../lib/channels.ts'
import type { MessageId } from '../../../lib/ids.ts'
import type { Rendered } from '../../channels/index.ts'
import { trackingBaseUrl } from '../../domains/index.ts'
import type { SendableTemplate } from '../../templates/index.ts'
import type { Eligible } from '../eligibility.ts'
import { withSealed } from '../requests/service.ts'
import type { ClaimedMessage } from '../schema.ts'
import type { SendContexts } from './context.ts'
import { type Prepared, type TemplateCache, untracked } from './prepare.ts'
import type { SendingProject } from './render.ts'
import { type RenderOutcome, renderMessages, type ToRender } from './render-messages.ts'

type Item = { message: ClaimedMessage; eligible: Eligible<SendableTemplate> }

/** What came of the messages of a slice, in order, and how those are shown that have redacted values. */
export type RenderedSlice = { outcomes: RenderOutcome[]; shown: ReadonlyMap<MessageId, Rendered> }

export async function renderSlice(
  ctx: ProjectCtx,
  { prepare, project }: { prepare: TemplateCache; project: SendingProject },
  requestOf: SendContexts['requestOf'],
  slice: readonly Item[],
): Promise<RenderedSlice> {
  const channel = slice[0]?.message.channel as Channel
  const messages: ToRender[] = []
  const redacted: ToRender[] = []
  const plain = new Map<SendableTemplate, Prepared>()
  for (const { message, eligible } of slice) {
    const { campaign, user, consent, template } = eligible
    const { id, name, subscription_id } = campaign
    const { redact = [], sealed = null } = requestOf(message) ?? {}
    // The address of a tracked link is shown in reports, so redacted messages have none.
    if (redact.length > 0 && !plain.has(template)) plain.set(template, untracked(template))
    const prepared = (redact.length > 0 && plain.get(template)) || (await prepare(ctx, project, channel, template, campaign.utm !== null))
    const trackingUrl = await trackingBaseUrl(ctx, campaign.custom_domain_id)
    const input = { id: message.id, campaign: { id, name, subscription_id }, user, template: prepared, trackingUrl, utm: campaign.utm }
    const { event } = message
    messages.push({ ...input, event: withSealed(ctx, event, sealed), isTransactional: consent.is_transactional })
    if (sealed !== null) redacted.push({ ...input, event, isTransactional: consent.is_transactional })
  }
  const outcomes = await renderMessages(ctx, project, channel, [...messages, ...redacted])
  const shown = new Map<MessageId, Rendered>()
  for (const [at, { id }] of redacted.entries()) {
    const outcome = outcomes[messages.length + at]
    shown.set(id, outcome && 'rendered' in outcome ? outcome.rendered : unshown(channel))
  }
  return { outcomes: outcomes.slice(0, messages.length), shown }
}

/** Nothing is shown of a message that cannot be rendered without its redacted values. */
const unshown = (channel: Channel): Rendered => ({ channel, recipient: '', summary: '[redacted]', content: {} })
