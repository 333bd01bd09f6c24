/** Renders the message of one user from a template, with tracked links, tracking pixel and unsubscribe headers. No SQL. */
import { LRUCache } from 'lru-cache'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { type Channel, channels } from '../../../lib/channels.ts'
import type { LinkId, ProjectId } from '../../../lib/ids.ts'
import { LiquidError } from '../../../lib/liquid.ts'
import { compose, type Rendered } from '../../channels/index.ts'
import { linksOf } from '../../subscriptions/index.ts'
import { renderContent, type SendableTemplate, scopeOf } from '../../templates/index.ts'
import { addPixel, numberLinks, saveLinks, type Tracker, trackerOf, wrapLinks } from '../../tracking/index.ts'
import type { Eligible } from '../eligibility.ts'
import type { ClaimedMessage } from '../schema.ts'
import { viewUrlOf } from './view-link.ts'

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
export type Prepared = {
  template: SendableTemplate
  content: Record<string, unknown>
  /** The tracked links in the content, by number; null if links are not tracked. */
  links: LinkId[] | null
}

export type TemplateCache = (ctx: ProjectCtx, project: SendingProject, channel: Channel, template: SendableTemplate) => Promise<Prepared>

const PREPARED_MAX = 500
/** The number of the link of a message that has only one. */
const ONLY_LINK = 0

/** Caches prepared templates, by their version and by whether links are tracked. */
export function createTemplateCache(): TemplateCache {
  const known = new LRUCache<string, Prepared>({ max: PREPARED_MAX })
  return async (ctx, project, channel, template) => {
    const wraps = wrapsLinks(project, channel)
    const key = `${template.id}:${template.updated_at.getTime()}:${wraps}`
    const found = known.get(key)
    if (found) return found
    const prepared = wraps ? await withLinks(ctx, channel, template) : { template, content: template.content, links: null }
    known.set(key, prepared)
    return prepared
  }
}

const wrapsLinks = (project: SendingProject, channel: Channel): boolean => {
  const { links } = channels[channel]
  return links !== null && project[links.wrappedBy]
}

async function withLinks(ctx: ProjectCtx, channel: Channel, template: SendableTemplate): Promise<Prepared> {
  const { content, campaign_id } = template
  if (channels[channel].links?.in === 'url') {
    const links = typeof content.url === 'string' && content.url !== '' ? [content.url] : []
    return { template, content, links: await saveLinks(ctx, campaign_id, links) }
  }
  const { html, links } = numberLinks(content.html as string)
  return { template, content: { ...content, html }, links: await saveLinks(ctx, campaign_id, links) }
}

/** How links are tracked: the settings of the project, and the base URL of tracked links. */
export type LinkSettings = { project: SendingProject; base: string }

type Material = Pick<Eligible<SendableTemplate>, 'campaign' | 'user'>

/** The rendered message with its headers, or why rendering failed. */
export function render(
  ctx: ProjectCtx,
  { project, base }: LinkSettings,
  message: Pick<ClaimedMessage, 'id' | 'channel' | 'event'>,
  { template, content, links }: Prepared,
  { campaign, user }: Material,
): { rendered: Rendered; headers: Record<string, string> } | { problem: string } {
  const about = { projectId: project.id, userId: user.id, subscriptionId: campaign.subscription_id, messageId: message.id }
  const userLinks = linksOf(ctx, about)
  const own = {
    unsubscribe_url: userLinks.unsubscribe_url,
    preferences_url: userLinks.preferences_url,
    view_url: viewUrlOf(ctx, project.id, message.id),
  }
  const scope = { ...scopeOf(project, message, campaign, user), ...own }
  try {
    const filled = renderContent(message.channel, content, scope, template.required)
    const tracker = trackerOf(ctx, { ...about, campaignId: campaign.id, base })
    const urlOf = (link: number, url: string) => {
      const id = links?.[link]
      return id === undefined || Object.values(own).includes(url) ? url : tracker.click(id, url)
    }
    const wrapped = links === null ? filled : withLinksWrapped(message.channel, filled, urlOf)
    const { opensCountedBy, recipient } = channels[message.channel]
    const tracked = opensCountedBy !== null && project[opensCountedBy] ? withPixel(wrapped, tracker) : wrapped
    const composed = compose(message.channel, tracked, user)
    return 'problem' in composed ? composed : { rendered: composed, headers: recipient === 'email' ? userLinks.headers : {} }
  } catch (error) {
    if (!(error instanceof LiquidError)) throw error
    return { problem: `The template failed on line ${error.line}: ${error.message}.` }
  }
}

function withLinksWrapped(
  channel: Channel,
  filled: Record<string, unknown>,
  urlOf: (link: number, url: string) => string,
): Record<string, unknown> {
  if (channels[channel].links?.in === 'html') return { ...filled, html: wrapLinks(filled.html as string, urlOf) }
  const { url } = filled
  return typeof url === 'string' && /^https?:/i.test(url) ? { ...filled, url: urlOf(ONLY_LINK, url) } : filled
}

const withPixel = (filled: Record<string, unknown>, { pixel }: Tracker) => ({ ...filled, html: addPixel(filled.html as string, pixel) })
