/** Reading the steps of a journey, and writing them and its settings to the draft. */
import { isDeepStrictEqual } from 'node:util'
import { type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { missing, refuse } from '../../../lib/errors.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import { registerSteps } from '../../positions/index.ts'
import { readGraph } from '../graph.ts'
import { lockEditable } from '../lock.ts'
import { presentSteps } from '../present.ts'
import { findJourney, touchJourney } from '../queries.ts'
import type { Steps } from '../schema.ts'
import { type JourneySettings, settingsFaults } from '../settings.ts'
import { publishGraph } from './publish.ts'
import * as queries from './queries.ts'
import { type FindReferenceFaults, type Graph, referenceFaultsOf } from './readiness.ts'
import type { VersionRow } from './schema.ts'
import { hideSecrets, notTooOld, removedBy, sealSecrets } from './secrets.ts'

/** The version of this name: `draft`, `live` or a number; without a name, the draft or else the live one. */
export function findNamed(ctx: ProjectCtx, id: JourneyId, name?: string): Promise<VersionRow | undefined> {
  if (name === undefined) return queries.findNewest(ctx, id)
  return name === 'draft' || name === 'live' ? queries.findByStatus(ctx, id, name) : queries.findVersion(ctx, id, Number(name))
}

/** The steps of a version. Without `version`, empty for a journey that has no steps yet. Throws 404. */
export async function getSteps(ctx: ProjectCtx, id: JourneyId, version?: string): Promise<Steps> {
  if (!(await findJourney(ctx, id))) throw missing('journey')
  const row = await findNamed(ctx, id, version)
  if (!row && version !== undefined) throw missing('version')
  return presentSteps(ctx, id, hideSecrets(row?.steps ?? []))
}

/**
 * Replaces the steps of the draft. If the journey is live but was never published, this publishes them. Throws 400 and 422 with the faults
 * of the steps, 403, 404.
 */
export async function replaceSteps(
  ctx: ProjectCtx,
  id: JourneyId,
  map: Record<string, unknown>,
  find: FindReferenceFaults,
): Promise<Steps> {
  const { steps, faults } = readGraph(map)
  refuse(faults)
  return inTx(ctx, async (ctx) => {
    const journey = await lockEditable(ctx, id)
    const newest = await queries.findNewest(ctx, id)
    const former = newest?.steps ?? []
    const before = await queries.removedSecrets(ctx, id)
    const [by, now] = [actorOf(ctx), ctx.clock.now()]
    const fresh = notTooOld(before, now)
    const sealed = sealSecrets(ctx.secrets, id, steps, { steps: former, removed: fresh.filter((one) => one.by === by) })
    const graph = { steps: sealed.steps, settings: newest?.settings ?? {} }
    refuse([...sealed.faults, ...(await referenceFaultsOf(ctx, { steps, settings: {} }, find))])
    await saveDraft(ctx, id, graph)
    const removed = removedBy(former, graph.steps, fresh, by, now)
    if (!isDeepStrictEqual(removed, before)) await queries.keepRemovedSecrets(ctx, id, removed)
    if (journey.status === 'live' && journey.live_version === null && steps.length > 0) await publishGraph(ctx, id, graph, find)
    return presentSteps(ctx, id, hideSecrets(graph.steps))
  })
}

const actorOf = ({ actor }: ProjectCtx): string => (actor ? `${actor.kind} ${actor.id}` : 'system')

async function saveDraft(ctx: InTx, id: JourneyId, graph: Graph): Promise<void> {
  await registerSteps(
    ctx,
    id,
    graph.steps.map(({ external_id }) => external_id),
  )
  await queries.saveDraft(ctx, id, graph)
  await touchJourney(ctx, id)
}

/** Writes the settings of a locked journey to its draft. Returns whether they changed. Throws 422. */
export async function replaceSettings(ctx: InTx, id: JourneyId, settings: JourneySettings, find: FindReferenceFaults): Promise<boolean> {
  const newest = await queries.findNewest(ctx, id)
  if (isDeepStrictEqual(newest?.settings ?? {}, settings)) return false
  refuse([...settingsFaults(settings), ...(await referenceFaultsOf(ctx, { steps: [], settings }, find))])
  await saveDraft(ctx, id, { steps: newest?.steps ?? [], settings })
  return true
}
