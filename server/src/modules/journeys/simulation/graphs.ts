/** The graphs of simulations. */
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { missing, refuse } from '../../../lib/errors.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import { compileGraph, type Graph } from '../engine/graph.ts'
import { readGraph } from '../graph.ts'
import { publishFaults } from '../publishable.ts'
import type { Step } from '../schema.ts'
import type { JourneySettings } from '../settings.ts'
import { findNewest, findVersion, liveGraphsOf } from '../versions/queries.ts'

/** A version of a journey, or steps that are not stored. */
export type Asked = { version?: number | undefined; steps?: Record<string, unknown> | undefined }

/** The graph to simulate, with the settings of the version. Throws 404, and 400 or 422 for a graph that cannot run. */
export async function graphFor(ctx: ProjectCtx, id: JourneyId, { version, steps: given }: Asked): Promise<Graph> {
  const row = version === undefined ? await findNewest(ctx, id) : await findVersion(ctx, id, version)
  if (!row && version !== undefined) throw missing('version')
  const { steps, faults } = given === undefined ? { steps: row?.steps ?? [], faults: [] } : readGraph(given)
  refuse(faults)
  refuse(publishFaults(steps))
  return compiled(id, row?.version ?? 1, steps, row?.settings ?? {})
}

/** Ids of steps are places in the graph, because steps that are not stored have none. */
const compiled = (journeyId: JourneyId, version: number, steps: readonly Step[], settings: JourneySettings): Graph =>
  compileGraph({ journeyId, version, steps, settings, ids: new Map(steps.map(({ external_id }, at) => [external_id, at + 1])) })

const TRIGGERS = ['none', 'api', 'event', 'list', 'schedule']

/**
 * The journeys that the links of a graph lead to, reduced to their entrances, which decide who enters. Users can enter them only by a link,
 * and do not move on. Of the triggers is left which entrance a link without one leads to.
 */
export async function linkedGraphs(ctx: ProjectCtx, { steps, journeyId }: Graph): Promise<Graph[]> {
  const ids = [...steps.values()].flatMap(({ type, settings }) => (type === 'link' ? [settings.journey_id as JourneyId] : []))
  const others = [...new Set(ids)].filter((id) => id !== undefined && id !== journeyId)
  if (others.length === 0) return []
  return (await liveGraphsOf(ctx, others)).map(({ journey_id, version, steps, settings }) => {
    const rank = ({ data }: Step) => TRIGGERS.indexOf((data as { trigger?: string }).trigger ?? 'none')
    const entrances = steps
      .filter(({ type }) => type === 'entrance')
      .sort((a, b) => rank(a) - rank(b) || (a.external_id < b.external_id ? -1 : 1))
    const alone = entrances.map((step, at) => ({ ...step, data: { ...step.data, trigger: at === 0 ? 'none' : 'schedule' }, children: [] }))
    return compiled(journey_id, version, alone, settings)
  })
}
