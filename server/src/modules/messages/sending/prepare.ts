/** Prepares a template for all of its messages: numbers the tracked links, and saves them. */
import { LRUCache } from 'lru-cache'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { type Channel, channels } from '../../../lib/channels.ts'
import type { LinkId } from '../../../lib/ids.ts'
import type { SendableTemplate } from '../../templates/index.ts'
import { numberLinks, saveLinks, siteOf } from '../../tracking/index.ts'
import type { PreparedTemplate, SendingProject } from './render.ts'

/** Of all templates that are kept, so that many small ones are, whatever the number of projects. */
const CHARACTERS_MAX = 32_000_000
/** What a template takes beside its content. */
const CHARACTERS_EACH = 1000

/** A template that is ready, or why it cannot be prepared. */
export type Prepared = PreparedTemplate | { exceeded: string }

export type TemplateCache = (
  ctx: ProjectCtx,
  project: SendingProject,
  channel: Channel,
  template: SendableTemplate,
  hasUtm: boolean,
) => Promise<Prepared>

/** Caches prepared templates, by their campaign, whose links are saved, their version, and whether links are tracked or get parameters. */
export function createTemplateCache(): TemplateCache {
  const known = new LRUCache<string, Prepared>({
    maxSize: CHARACTERS_MAX,
    sizeCalculation: (prepared) => CHARACTERS_EACH + JSON.stringify(prepared).length,
  })
  return async (ctx, project, channel, template, hasUtm) => {
    const wraps = wrapsLinks(project, channel)
    // Computed for each message, so the content is not looked at.
    const key = `${ctx.projectId}:${template.campaign_id}:${template.id}:${template.updated_at.getTime()}:${wraps}:${!wraps && hasUtm}`
    const found = known.get(key)
    if (found) return found
    const prepared = wraps
      ? await withLinks(ctx, channel, template, (links) => saveLinks(ctx, template.campaign_id, savedLinks(template, links)))
      : numbersLinks(channel, template, hasUtm)
        ? await withLinks(ctx, channel, template, async () => [])
        : untracked(template)
    known.set(key, prepared)
    return prepared
  }
}

/** The links of a template as they are kept. Those of content for one message can name its user, and outlive it: only their sites are. */
const savedLinks = ({ id }: SendableTemplate, links: string[]): string[] => (id < 0 ? links.map(siteOf) : links)

/** A template whose links stay as they are. */
export const untracked = ({ content, required }: SendableTemplate): PreparedTemplate => ({ content, required, tracked: null })

const wrapsLinks = (project: SendingProject, channel: Channel): boolean => {
  const { links } = channels[channel]
  return links !== null && project[links.wrappedBy]
}

/** Links that are not tracked are numbered to get parameters. An email with `data-track` is, because numbering takes that out. */
const numbersLinks = (channel: Channel, { content }: SendableTemplate, hasUtm: boolean): boolean => {
  const { links } = channels[channel]
  return links !== null && (hasUtm || (links.in === 'html' && /data-track/i.test(content.html as string)))
}

/** Prepares a template for a test send. Its links are wrapped, but not saved. */
export const prepareTest = async (
  ctx: ProjectCtx,
  project: SendingProject,
  channel: Channel,
  template: SendableTemplate,
  hasUtm: boolean,
): Promise<Prepared> => {
  if (wrapsLinks(project, channel)) return withLinks(ctx, channel, template, async (links) => links.map(() => NO_LINK))
  return numbersLinks(channel, template, hasUtm) ? withLinks(ctx, channel, template, async () => []) : untracked(template)
}

const NO_LINK = 0 as LinkId

async function withLinks(
  ctx: ProjectCtx,
  channel: Channel,
  { content, required }: SendableTemplate,
  idsOf: (links: string[]) => Promise<LinkId[]>,
): Promise<Prepared> {
  if (channels[channel].links?.in === 'url') {
    const links = typeof content.url === 'string' && content.url !== '' ? [content.url] : []
    return { content, required, tracked: { ids: await idsOf(links), nonce: '' } }
  }
  const outcome = await ctx.threads.run(ctx, numberLinks, content.html as string)
  if ('exceeded' in outcome) return outcome
  const { html, links, nonce } = outcome.value
  return { content: { ...content, html }, required, tracked: { ids: await idsOf(links), nonce } }
}
