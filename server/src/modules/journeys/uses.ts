/** Which live journeys use a list or a campaign. */
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { CampaignId, JourneyId } from '../../lib/ids.ts'
import { referencesWithin } from '../rules/index.ts'
import { referencesOf } from './graph.ts'
import { type LiveGraphRow, liveGraphs } from './queries.ts'
import { referencesOfSettings } from './settings.ts'

/** What a version refers to: in a step, in a rule or in the settings. */
function referencesIn({ steps, settings }: LiveGraphRow) {
  const { ids, rules } = referencesOf(steps)
  return [...ids, ...referencesOfSettings(settings), ...rules.flatMap(({ rule }) => referencesWithin(rule))]
}

/** The names of the live journeys whose live version refers to this list or campaign. */
export async function journeysUsing(ctx: ProjectCtx, { kind, id }: { kind: 'list' | 'campaign'; id: number }): Promise<string[]> {
  return (await liveGraphs(ctx))
    .filter((graph) => referencesIn(graph).some((reference) => reference.kind === kind && reference.id === id))
    .map(({ name }) => name)
}

/** The live journeys with a step that sends one of these campaigns, by campaign, in the order of their ids. */
export async function journeysSending(
  ctx: ProjectCtx,
  campaigns: CampaignId[],
): Promise<Map<CampaignId, { id: JourneyId; name: string }[]>> {
  const found = new Map<CampaignId, { id: JourneyId; name: string }[]>(campaigns.map((id) => [id, []]))
  if (campaigns.length === 0) return found
  for (const { id, name, steps } of await liveGraphs(ctx)) {
    const sent = new Set(referencesOf(steps).ids.flatMap(({ kind, id }) => (kind === 'campaign' ? [id as CampaignId] : [])))
    for (const campaign of sent) found.get(campaign)?.push({ id, name })
  }
  return found
}
