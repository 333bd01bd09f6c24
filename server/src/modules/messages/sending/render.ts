/** Renders the message of one user from a template, with tracked links, tracking pixel and unsubscribe headers. Pure. */
import type { TaskTools } from '../../../infra/threads/task.ts'
import { type Channel, channels } from '../../../lib/channels.ts'
import type { CampaignId, LinkId, MessageId, ProjectId, SubscriptionId } from '../../../lib/ids.ts'
import { LiquidError, OverBudget } from '../../../lib/liquid/liquid.ts'
import { type Utm, withUtm } from '../../../lib/utm.ts'
import type { Contact, Rendered } from '../../channels/index.ts'
import { compose } from '../../channels/tasks.ts'
import { linksOf } from '../../subscriptions/tasks.ts'
import { renderContent, scopeOf } from '../../templates/tasks.ts'
import { addPixel, type Tracker, trackerOf, wrapLinks } from '../../tracking/tasks.ts'
import type { UserRow } from '../../users/index.ts'
import type { ClaimedMessage, TriggeringEvent } from '../schema.ts'
import { testViewUrlOf, viewUrlOf } from '../view-link.ts'
import { streamHeaders } from './mail-headers.ts'

/** How to compose an email in advance: its own headers, its sender if the template has none, what its key is made of, and whether it is to be signed. */
export type Composing = { headers: Record<string, string>; defaultFrom: string; fromDomain?: string; hashesBody?: true } & Pick<
  ClaimedMessage,
  'created_at'
>

/** The members of a project that rendering needs. */
export type SendingProject = {
  id: ProjectId
  name: string
  locale: string
  timezone: string
  link_wrap_email: boolean
  link_wrap_push: boolean
  track_opens_email: boolean | null
}

/** A template after the preparation that is done once for all its messages. */
export type PreparedTemplate = {
  content: Record<string, unknown>
  required: readonly string[]
  /** The tracked links in the content, by number, none if they only get parameters, and what their numbers begin with; null if links stay. */
  tracked: { ids: LinkId[]; nonce: string } | null
}

/** What the messages of one project and channel share. */
export type RenderSettings = {
  project: SendingProject
  channel: Channel
  templates: PreparedTemplate[]
  /** The URL of this server. */
  baseUrl: string
  now: Date
}

/** One message to render. */
export type RenderInput = {
  id: MessageId
  event: TriggeringEvent | null
  campaign: { id: CampaignId; name: string; subscription_id: SubscriptionId }
  isTransactional: boolean
  user: UserRow
  /** The recipient of a test send, which need not be the user. Its links are marked, and change and count nothing. */
  testFor?: Contact
  /** The index of its template. */
  template: number
  /** The base URL of its tracked links. */
  trackingUrl: string
  /** The parameters that its links get. */
  utm?: Utm | null
  /** For an email that the thread composes too. */
  composing?: Composing
}

export type RenderFailure = { problem: string /** It exceeded its budget. */; isOverBudget: boolean }

/** The rendered message with its headers, or why rendering failed. */
export type RenderResult = { rendered: Rendered; headers: Record<string, string> } | RenderFailure

/** The number of the link of a message that has only one. */
const ONLY_LINK = 0

export function render({ secrets }: Pick<TaskTools, 'secrets'>, settings: RenderSettings, input: RenderInput): RenderResult {
  const { project, channel, templates, baseUrl } = settings
  const { content, required, tracked } = templates[input.template] as PreparedTemplate
  const { campaign, user } = input
  const signing = { secrets, baseUrl: () => baseUrl, clock: { now: () => settings.now } }
  const about = {
    projectId: project.id,
    subscriptionId: campaign.subscription_id,
    ...(input.testFor ? { userId: null, messageId: null } : { userId: user.id, messageId: input.id }),
  }
  const userLinks = linksOf(signing, about)
  const own = {
    unsubscribe_url: userLinks.unsubscribe_url,
    preferences_url: userLinks.preferences_url,
    view_url: input.testFor ? testViewUrlOf(signing) : viewUrlOf(signing, project.id, input.id),
  }
  const ownPages = Object.values(own).map(pageOf)
  try {
    const filled = renderContent(channel, content, { ...scopeOf(project, input, campaign, user), ...own }, required)
    const tracker = trackerOf(signing, { ...about, campaignId: campaign.id, base: input.trackingUrl })
    const urlOf = (link: number, url: string) => {
      if (ownPages.includes(pageOf(url))) return url
      const [id, address] = [tracked?.ids[link], input.utm ? withUtm(url, input.utm) : url]
      return id === undefined ? address : tracker.click(id, address)
    }
    const wrapped = tracked === null ? filled : withLinksWrapped(channel, tracked.nonce, filled, urlOf)
    const { opensCountedBy, recipient } = channels[channel]
    const counted = opensCountedBy !== null && project[opensCountedBy] ? withPixel(wrapped, tracker) : wrapped
    const composed = compose(channel, counted, input.testFor ?? user)
    if ('problem' in composed) return { ...composed, isOverBudget: false }
    // Only what can be left this way offers to be (RFC 8058).
    const stream = { projectId: project.id, campaignId: campaign.id, subscriptionId: campaign.subscription_id, baseUrl }
    const headers = recipient === 'email' ? streamHeaders({ ...stream, isTransactional: input.isTransactional }) : {}
    return { rendered: composed, headers: { ...headers, ...(recipient === 'email' && !input.isTransactional && userLinks.headers) } }
  } catch (error) {
    if (!(error instanceof LiquidError)) throw error
    return { problem: `The template failed on line ${error.line}: ${error.message}.`, isOverBudget: error instanceof OverBudget }
  }
}

/** A URL without what a template may append to it. */
const pageOf = (url: string): string => url.split('#', 1)[0]?.split('?', 1)[0] ?? url

function withLinksWrapped(
  channel: Channel,
  nonce: string,
  filled: Record<string, unknown>,
  urlOf: (link: number, url: string) => string,
): Record<string, unknown> {
  if (channels[channel].links?.in === 'html') return { ...filled, html: wrapLinks(nonce, filled.html as string, urlOf) }
  const { url } = filled
  return typeof url === 'string' && /^https?:/i.test(url) ? { ...filled, url: urlOf(ONLY_LINK, url) } : filled
}

const withPixel = (filled: Record<string, unknown>, { pixel }: Tracker) => ({ ...filled, html: addPixel(filled.html as string, pixel) })
