import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, LinkId, ProjectId } from '../../../lib/ids.ts'
import type { CampaignLinks } from '../schema.ts'
import * as queries from './queries.ts'

const RESULTS_MAX = 1000

/** Ids by the array of links, which exists as long as its template is cached. */
const cachedIds = new WeakMap<string[], Map<string, LinkId[]>>()

/**
 * Returns the ids of a template’s links, in their order. Ids do not change. They are cached by the array object, so pass the array that
 * parsing the template returned.
 */
export async function saveLinks(ctx: ProjectCtx, campaignId: CampaignId, links: string[]): Promise<LinkId[]> {
  if (links.length === 0) return []
  const known = cachedIds.get(links) ?? new Map<string, LinkId[]>()
  const key = keyOf(ctx.projectId, campaignId)
  const ids = known.get(key) ?? (await findOrSave(ctx, campaignId, links))
  // A transaction may be rolled back.
  if (!('inTransaction' in ctx.db)) cachedIds.set(links, known.set(key, ids))
  return ids
}

const keyOf = (projectId: ProjectId, campaignId: CampaignId) => `${projectId}:${campaignId}`

async function findOrSave(ctx: ProjectCtx, campaignId: CampaignId, links: string[]): Promise<LinkId[]> {
  const found = await queries.findLinks(ctx, campaignId, links)
  const rows = found.length === links.length ? found : await queries.saveLinks(ctx, campaignId, links)
  const ids = new Map(rows.map(({ position, id }) => [position, id]))
  return links.map((_, position) => ids.get(position) as LinkId)
}

/** The clicks and opens of a campaign, including links of earlier templates and of all locales. */
export async function linksOfCampaign(ctx: ProjectCtx, campaignId: CampaignId): Promise<CampaignLinks> {
  const results = await queries.countLinks(ctx, campaignId, RESULTS_MAX)
  return { results, opens: (await queries.findOpens(ctx, campaignId)) ?? { total: 0, proxied: 0, machine: 0 } }
}
