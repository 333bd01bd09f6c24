/** Whether a graph can be published. All of its faults are found at once. */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { Fault } from '../../../lib/errors.ts'
import type { CampaignId, JourneyId } from '../../../lib/ids.ts'
import { webhookUrlProblem } from '../../../lib/urls.ts'
import { findCampaigns } from '../../campaigns/index.ts'
import { referencesOf } from '../graph.ts'
import { linkFaults, linksOf, publishFaults, publishWarnings } from '../publishable.ts'
import type { Step } from '../schema.ts'
import { type JourneySettings, referencesOfSettings, settingsFaults } from '../settings.ts'
import type { StepReference, StepRule } from '../steps/step.ts'
import { graphsWithLinks } from './queries.ts'

/** Returns a fault for each reference to something that the project does not have. */
export type FindReferenceFaults = (ctx: ProjectCtx, references: { ids: StepReference[]; rules: StepRule[] }) => Promise<Fault[]>

export type Graph = { steps: Step[]; settings: JourneySettings }

/** The faults of references in steps and settings. */
export function referenceFaultsOf(ctx: ProjectCtx, { steps, settings }: Graph, find: FindReferenceFaults): Promise<Fault[]> {
  const { ids, rules } = referencesOf(steps)
  return find(ctx, { ids: [...ids, ...referencesOfSettings(settings)], rules })
}

/** The faults that prevent a publication, and warnings about what may be a mistake. */
export async function readinessOf(
  ctx: ProjectCtx,
  journeyId: JourneyId,
  graph: Graph,
  find: FindReferenceFaults,
): Promise<{ faults: Fault[]; warnings: Fault[] }> {
  const { steps, settings } = graph
  const faults = [
    ...publishFaults(steps),
    ...settingsFaults(settings),
    ...urlFaults(ctx, steps),
    ...(await referenceFaultsOf(ctx, graph, find)),
    ...(await campaignFaults(ctx, steps)),
    ...(await faultsOfLinks(ctx, journeyId, steps)),
  ]
  return { faults, warnings: publishWarnings(steps) }
}

const broken = (param: string, message: string): Fault => ({ code: 'validation_failed', param, message })

/** As for webhook endpoints. Liquid comes after the host. */
function urlFaults({ fetch }: ProjectCtx, steps: Step[]): Fault[] {
  return steps.flatMap(({ external_id, type, data }): Fault[] => {
    const { url } = data as { url?: string }
    if (type !== 'webhook' || url === undefined) return []
    const param = `${external_id}.data.url`
    const problem = webhookUrlProblem(/^[^/]*\/\/[^/?#]*/.exec(url)?.[0] ?? url, fetch.policy)
    return problem === null ? [] : [broken(param, `The value of \`${param}\` ${problem}.`)]
  })
}

/** A campaign that a step sends must be a running trigger. */
async function campaignFaults(ctx: ProjectCtx, steps: Step[]): Promise<Fault[]> {
  const sent = referencesOf(steps.filter(({ type }) => type === 'action')).ids.filter(({ kind }) => kind === 'campaign')
  if (sent.length === 0) return []
  const campaigns = new Map<number, { type: string; state: string }>(
    (
      await findCampaigns(
        ctx,
        sent.map(({ id }) => id as CampaignId),
      )
    ).map((row) => [row.id, row]),
  )
  return sent.flatMap(({ id, param }): Fault[] => {
    const campaign = campaigns.get(id)
    if (!campaign) return []
    if (campaign.type !== 'trigger') return [broken(param, `The campaign in \`${param}\` must have the type \`trigger\`.`)]
    if (campaign.state === 'running') return []
    return [broken(param, `The campaign in \`${param}\` is \`${campaign.state}\`. Set its \`state\` to \`running\` first.`)]
  })
}

async function faultsOfLinks(ctx: ProjectCtx, journeyId: JourneyId, steps: Step[]): Promise<Fault[]> {
  if (!steps.some(({ type }) => type === 'link')) return []
  const links = new Map((await graphsWithLinks(ctx)).map((row) => [row.journey_id, linksOf(row.steps)]))
  return linkFaults(journeyId, steps, (id) => links.get(id) ?? [])
}
