/** Publishing: the draft, or a copy of an earlier version, becomes the version that users enter. Users inside follow a plan. */
import { type InTx, inTx, type ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { type Fault, fault, missing, refuse } from '../../../lib/errors.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import { registeredSteps, usersAtSteps } from '../../positions/index.ts'
import { SWEEP } from '../job-names.ts'
import { lockJourney } from '../lock.ts'
import { findJourney, setLiveVersion } from '../queries.ts'
import { freePlaces } from '../rates.queries.ts'
import type { JourneyRow, Step } from '../schema.ts'
import { startEntranceSweeps } from '../sweeps/entrances.ts'
import { deleteExits, deleteSweeps, insertSweep, movingTo } from '../sweeps/queries.ts'
import { dueNowOf } from './due-now.ts'
import { type Balancer, movesUsers, movingOf, type Planned, planFaults, plannedOf, type UsersAtStep, vacatedBy } from './plan.ts'
import * as queries from './queries.ts'
import { type FindReferenceFaults, type Graph, readinessOf } from './readiness.ts'
import type { Plan, Publication, PublishInput } from './schema.ts'

/** What would be published, with the faults and the users that it concerns. */
type Prepared = { graph: Graph; version: number; planned: Planned[]; faults: Fault[]; warnings: Fault[] }

/** Publishes the draft, or a copy of an earlier version. Throws 403, 404, and 422 with all faults. */
export const publish = (ctx: ProjectCtx, id: JourneyId, input: PublishInput, find: FindReferenceFaults): Promise<Publication> =>
  inTx(ctx, async (ctx) => {
    const { status } = await lockJourney(ctx, id)
    const prepared = await prepare(ctx, id, input, find)
    refuse(prepared.faults)
    const shown = await present(ctx, id, prepared)
    const { published_at } = await put(ctx, id, prepared, input)
    // The draft becomes live: what was planned before it was one does not happen to those who enter now.
    if (status === 'draft') await deleteExits(ctx, id)
    return { ...shown, ...(published_at && { published_at }) }
  })

/** The reply that a publication would have, without publishing anything. Throws 404, and 422 when there is nothing to publish. */
export async function previewPublication(
  ctx: ProjectCtx,
  id: JourneyId,
  input: PublishInput,
  find: FindReferenceFaults,
): Promise<Publication> {
  if (!(await findJourney(ctx, id))) throw missing('journey')
  return present(ctx, id, await prepare(ctx, id, input, find))
}

/** Publishes the steps of a locked journey for the first time. Throws 422 with all faults. */
export async function publishGraph(ctx: InTx, id: JourneyId, graph: Graph, find: FindReferenceFaults): Promise<void> {
  const { faults } = await readinessOf(ctx, id, graph, find)
  refuse(faults)
  const version = await queries.nextVersion(ctx, id)
  await put(ctx, id, { graph, version, planned: [] }, {})
}

/**
 * Publishes the draft of a locked journey that becomes live, if it has a draft with steps. Returns whether it has. Throws 422 with all
 * faults.
 */
export async function publishDraft(ctx: InTx, { id }: JourneyRow, find: FindReferenceFaults): Promise<boolean> {
  const draft = await queries.findByStatus(ctx, id, 'draft')
  if (!draft || draft.steps.length === 0) return false
  await refuseWhileMoving(ctx, id)
  await publishGraph(ctx, id, draft, find)
  return true
}

async function refuseWhileMoving(ctx: ProjectCtx, id: JourneyId): Promise<void> {
  refuse(await movingFaults(ctx, id))
}

async function movingFaults(ctx: ProjectCtx, id: JourneyId): Promise<Fault[]> {
  if ((await movingTo(ctx, id)) === undefined) return []
  const message = 'Users are still moving to the last published version. Wait until `moving` in the list of versions is 0.'
  return [{ code: 'validation_failed', param: 'version', message }]
}

async function prepare(ctx: ProjectCtx, id: JourneyId, input: PublishInput, find: FindReferenceFaults): Promise<Prepared> {
  const { from_version: from, plan = {} } = input
  const source = from === undefined ? await queries.findByStatus(ctx, id, 'draft') : await queries.findVersion(ctx, id, from)
  if (!source || (from !== undefined && source.status === 'draft')) {
    if (from !== undefined) throw fault('validation_failed', 'from_version', `The journey has no published version ${from}.`)
    throw fault('validation_failed', 'version', 'The journey has no draft. Change its steps or settings first, or give `from_version`.')
  }
  const graph = { steps: source.steps, settings: source.settings }
  const { faults, warnings } = await readinessOf(ctx, id, graph, find)
  const known = new Set((await registeredSteps(ctx, id)).map(({ external_id }) => external_id))
  const { planned, faults: gaps } = plannedOf(plan, await usersOf(ctx, id), graph.steps)
  const ofPlan = planFaults(plan, known, graph.steps)
  return {
    graph,
    version: await queries.nextVersion(ctx, id),
    planned,
    faults: [...faults, ...(ofPlan.length > 0 ? ofPlan : gaps), ...(await movingFaults(ctx, id))],
    warnings,
  }
}

/** Where users are inside, with the type of the step in their version. */
async function usersOf(ctx: ProjectCtx, id: JourneyId): Promise<UsersAtStep[]> {
  const rows = await usersAtSteps(ctx, id)
  if (rows.length === 0) return []
  const versions = [...new Set(rows.map(({ version }) => version))]
  const types = new Map(
    (await queries.typesOfSteps(ctx, id, versions)).map(({ version, external_id, type }) => [`${version} ${external_id}`, type]),
  )
  return rows.map((row) => ({ ...row, type: types.get(`${row.version} ${row.external_id}`) ?? '' }))
}

/** Writes the version, and starts what follows from it. */
async function put(ctx: InTx, id: JourneyId, prepared: Pick<Prepared, 'graph' | 'version' | 'planned'>, input: PublishInput) {
  const { graph, version, planned } = prepared
  const { from_version, note = '', plan = {} } = input
  const former = await queries.findByStatus(ctx, id, 'live')
  const keyId = ctx.caller.kind === 'system' ? null : ctx.caller.keyId
  const given = { ...graph, version, plan, note: note === '' ? null : note, keyId }
  const row = await queries.publishVersion(ctx, id, given, from_version === undefined)
  await setLiveVersion(ctx, id, version)
  const started = { version, plan, steps: graph.steps, former: former?.steps ?? [], isFirst: former === undefined }
  await freeVacated(ctx, id, started, planned)
  await startSweeps(ctx, id, started)
  return row
}

type Started = { version: number; plan: Plan; steps: Step[]; former: Step[]; isFirst: boolean }

/** The places that the plan takes from users are free at once, for them and for those who come later. */
async function freeVacated(ctx: InTx, id: JourneyId, { plan, steps, former }: Started, planned: UsersAtStep[]): Promise<void> {
  if (!movesUsers(plan)) return
  const vacated = vacatedBy(plan, await balancersOf(ctx, id, planned, former), steps)
  if (vacated.length === 0) return
  const ids = new Map((await registeredSteps(ctx, id)).map((step) => [step.external_id, step.id]))
  await freePlaces(
    ctx,
    id,
    vacated.flatMap(({ key, from }) => {
      const step_id = ids.get(key)
      return step_id === undefined ? [] : [{ step_id, from }]
    }),
  )
}

/** The balancers at which users are, by the settings of their versions, and those of the version before at which there is none. */
async function balancersOf(ctx: InTx, id: JourneyId, groups: UsersAtStep[], former: Step[]): Promise<Balancer[]> {
  const used = groups.filter(({ type }) => type === 'balancer')
  const versions = used.length === 0 ? [] : await queries.stepsOfVersions(ctx, id, [...new Set(used.map(({ version }) => version))])
  const stepsOf = new Map(versions.map(({ version, steps }) => [version, steps]))
  const keys = new Set(used.map(({ external_id }) => external_id))
  return [
    ...used.flatMap(({ external_id, version, last_due_at }): Balancer[] => {
      const step = stepsOf.get(version)?.find((step) => step.external_id === external_id)
      return step ? [{ step, last_due_at }] : []
    }),
    ...former.flatMap((step) => (step.type === 'balancer' && !keys.has(step.external_id) ? [{ step, last_due_at: null }] : [])),
  ]
}

async function startSweeps(ctx: InTx, id: JourneyId, { version, plan, steps, former, isFirst }: Started): Promise<void> {
  // What remains is the second look for the version before.
  await deleteSweeps(ctx, id, ['publish'])
  if (!isFirst && movesUsers(plan)) await insertSweep(ctx, id, { kind: 'publish', params: { version } }, ctx.clock.now())
  await startEntranceSweeps(ctx, id, { version, steps, former })
  ctx.wake(SWEEP)
}

async function present(ctx: ProjectCtx, id: JourneyId, { graph, version, planned, faults, warnings }: Prepared): Promise<Publication> {
  const dueNow = await dueNowOf(ctx, id, planned, graph.steps)
  return {
    version,
    moving: movingOf(planned),
    faults: faults.map(problemOf),
    warnings: warnings.map(problemOf),
    steps: planned.map(({ external_id, version, users, plan, in_place }, at) => ({
      external_id,
      version,
      users,
      plan,
      in_place,
      due_now: dueNow[at] ?? 0,
    })),
  }
}

const problemOf = ({ param, message }: Fault) => ({ ...(param !== undefined && { param }), message })
