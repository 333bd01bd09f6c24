/** Renders the messages of a slice. Those whose request redacted values are rendered a second time, as they may be shown. */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { Channel } from '../../../lib/channels.ts'
import type { DomainId, MessageId } from '../../../lib/ids.ts'
import type { ProviderConnection, Rendered } from '../../channels/index.ts'
import { fromDomainOf, trackingBaseUrl } from '../../domains/index.ts'
import type { SendableTemplate } from '../../templates/index.ts'
import type { Eligible } from '../eligibility.ts'
import { REDACTED } from '../requests/redact.ts'
import type { MessageRequest } from '../requests/schema.ts'
import { withSealed } from '../requests/service.ts'
import type { ClaimedMessage } from '../schema.ts'
import type { SendContexts } from './context.ts'
import type { TemplateCache } from './prepare.ts'
import type { Composing, SendingProject } from './render.ts'
import { type RenderOutcome, renderMessages, type ToRender, type Unrendered } from './render-messages.ts'

type Item = {
  message: ClaimedMessage
  eligible: Eligible<SendableTemplate>
  connection: Pick<ProviderConnection, 'takesMail' | 'defaultFrom'>
}

/** What came of the messages of a slice, in order, and how those are shown that have redacted values. */
export type RenderedSlice = {
  outcomes: RenderOutcome[]
  shown: ReadonlyMap<MessageId, Rendered>
  /** Frees the memory of the large texts. Nothing may read them afterwards. */
  release(): void
}

export async function renderSlice(
  ctx: ProjectCtx,
  { prepare, project }: { prepare: TemplateCache; project: SendingProject },
  requestOf: SendContexts['requestOf'],
  slice: readonly Item[],
): Promise<RenderedSlice> {
  const channel = slice[0]?.message.channel as Channel
  const messages: (ToRender | Unrendered)[] = []
  const redacted: ToRender[] = []
  const withoutKey: Error[] = []
  const plain = { ...project, link_wrap_email: false, link_wrap_push: false }
  const domains = new Map<DomainId | null, Domains>()
  for (const { message, eligible, connection } of slice) {
    const { campaign, user, consent, template } = eligible
    const { id, name, subscription_id } = campaign
    const request = requestOf(message)
    const { redact = [], sealed = null } = request ?? {}
    // The address of a tracked link is shown in reports, so redacted messages have none, and no parameters.
    const [links, utm] = redact.length > 0 ? [plain, null] : [project, campaign.utm]
    const prepared = await prepare(ctx, links, channel, template, utm !== null)
    const { trackingUrl, fromDomain } = domains.get(campaign.custom_domain_id) ?? (await domainsOf(ctx, campaign.custom_domain_id))
    domains.set(campaign.custom_domain_id, { trackingUrl, fromDomain })
    const input = { id: message.id, campaign: { id, name, subscription_id }, user, template: prepared, trackingUrl, utm }
    const { event } = message
    const composing =
      connection.takesMail !== null && hasNoFiles(template, request) && composingOf(message, connection, request, fromDomain)
    const unsealed = withSealed(ctx, message, sealed)
    const whole = { ...input, isTransactional: consent.is_transactional, ...(composing && { composing }) }
    if ('error' in unsealed) withoutKey.push(unsealed.error)
    messages.push('event' in unsealed ? { ...whole, ...unsealed } : unsealed)
    if (sealed !== null) redacted.push({ ...input, event, isTransactional: consent.is_transactional })
  }
  if (withoutKey.length > 0)
    ctx.log.error(
      { err: withoutKey[0], project_id: ctx.projectId, messages: withoutKey.length },
      'messages wait, because their redacted values cannot be decrypted',
    )
  const outcomes = await renderMessages(ctx, project, channel, [...messages, ...redacted])
  const shown = new Map<MessageId, Rendered>()
  for (const [at, { id }] of redacted.entries()) {
    const outcome = outcomes[messages.length + at]
    shown.set(id, outcome && 'rendered' in outcome ? outcome.rendered : unshown(channel))
  }
  const packed = new Set(outcomes.flatMap((outcome) => ('packed' in outcome && outcome.packed) || []))
  const release = () => {
    for (const bytes of packed) bytes.release()
  }
  return { outcomes: outcomes.slice(0, messages.length), shown, release }
}

/** The domains of a campaign: of its tracked links, and of the default sender. */
type Domains = { trackingUrl: string; fromDomain: string | undefined }

const domainsOf = async (ctx: ProjectCtx, id: DomainId | null): Promise<Domains> => ({
  trackingUrl: await trackingBaseUrl(ctx, id),
  fromDomain: id === null ? undefined : await fromDomainOf(ctx, id),
})

const hasNoFiles = (template: SendableTemplate, request: MessageRequest | undefined): boolean =>
  template.attachment_bytes === 0 && (request?.attachments ?? 0) === 0

/** How the thread composes an email. The custom domain of its campaign is that of the default sender (D-MTA-43). */
const composingOf = (
  { created_at }: ClaimedMessage,
  { defaultFrom, takesMail }: Item['connection'],
  request: MessageRequest | undefined,
  fromDomain: string | undefined,
): Composing => ({
  created_at,
  defaultFrom: defaultFrom ?? '',
  headers: request?.headers ?? {},
  ...(fromDomain !== undefined && { fromDomain }),
  ...(takesMail === 'hashed' && { hashesBody: true }),
})

/** Nothing is shown of a message that cannot be rendered without its redacted values. */
const unshown = (channel: Channel): Rendered => ({ channel, recipient: REDACTED, summary: REDACTED, content: {} })
