import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, LinkId, ProjectId } from '../../../lib/ids.ts'
import type { CampaignLinks } from '../schema.ts'
import * as queries from './queries.ts'

const RESULTS_MAX = 1000

/** By the very array that `markLinks` made, which lives as long as the template it belongs to is kept. */
const remembered = new WeakMap<string[], Map<string, LinkId[]>>()

/**
 * The ids of a template's links, in their order: asked again, they are the same. Ids are remembered by the array, so ask with the
 * one that `markLinks` returned.
 */
export async function saveLinks(ctx: ProjectCtx, campaignId: CampaignId, links: string[]): Promise<LinkId[]> {
  if (links.length === 0) return []
  const known = remembered.get(links) ?? new Map<string, LinkId[]>()
  const key = keyOf(ctx.projectId, campaignId)
  const ids = known.get(key) ?? (await findOrSave(ctx, campaignId, links))
  // What a transaction has written may yet be undone.
  if (!('inTransaction' in ctx.db)) remembered.set(links, known.set(key, ids))
  return ids
}

const keyOf = (projectId: ProjectId, campaignId: CampaignId) => `${projectId}:${campaignId}`

async function findOrSave(ctx: ProjectCtx, campaignId: CampaignId, links: string[]): Promise<LinkId[]> {
  const found = await queries.findLinks(ctx, campaignId, links)
  const rows = found.length === links.length ? found : await queries.saveLinks(ctx, campaignId, links)
  const ids = new Map(rows.map(({ position, id }) => [position, id]))
  return links.map((_, position) => ids.get(position) as LinkId)
}

/** What came of a campaign's links and pictures; links of former templates and of all locales are among them. */
export async function linksOfCampaign(ctx: ProjectCtx, campaignId: CampaignId): Promise<CampaignLinks> {
  const results = await queries.countLinks(ctx, campaignId, RESULTS_MAX)
  return { results, opens: (await queries.findOpens(ctx, campaignId)) ?? { total: 0, proxied: 0, machine: 0 } }
}
