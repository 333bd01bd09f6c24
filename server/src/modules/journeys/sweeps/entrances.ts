/** The sweeps by which users enter: schedules, and the members that a list already has at a publication. */
import { isDeepStrictEqual } from 'node:util'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { JourneyId, ListId } from '../../../lib/ids.ts'
import { findProject } from '../../projects/index.ts'
import { findJourney } from '../queries.ts'
import type { Step } from '../schema.ts'
import { saveNext } from './clock.queries.ts'
import type { ScheduleParams, SweepWork } from './kinds.ts'
import { deleteSweepsById, insertSweeps, type SweepRow, startExisting, sweepsOf } from './queries.ts'
import { firstInstant, nextInstant } from './schedules.ts'

type Entrance = { trigger?: string; list_id?: ListId; schedule?: string; zone?: 'project' | 'user'; existing?: boolean }

const entrancesWith = (steps: readonly Step[], trigger: string): { step: string; settings: Entrance }[] =>
  steps
    .filter(({ type, data }) => type === 'entrance' && (data as Entrance).trigger === trigger)
    .map(({ external_id, data }) => ({ step: external_id, settings: data as Entrance }))

type Published = { version: number; steps: readonly Step[]; former: readonly Step[] }

/** Starts the sweeps of a published version. A schedule that did not change continues; one that the version does not have ends. */
export async function startEntranceSweeps(ctx: InTx, id: JourneyId, published: Published): Promise<void> {
  await startSchedules(ctx, id, published.steps)
  await beginExisting(ctx, id, published)
}

/** Starts the schedules of a version that are not running yet, and ends all others of the journey. */
export async function startSchedules(ctx: InTx, id: JourneyId, steps: readonly Step[]): Promise<void> {
  const running = await sweepsOf(ctx, id, ['schedule'])
  const wanted = entrancesWith(steps, 'schedule').flatMap(({ step, settings }) => scheduleOf(ctx, step, settings))
  const same = (row: SweepRow, params: ScheduleParams) => {
    const { since: _, due_zone: __, ...known } = row.params as ScheduleParams
    const { since: ___, ...given } = params
    return isDeepStrictEqual(known, given)
  }
  const ended = running.filter((row) => !wanted.some((params) => same(row, params)))
  if (ended.length > 0)
    await deleteSweepsById(
      ctx,
      ended.map((row) => row.id),
    )
  const begun: (SweepWork & { next_at: Date })[] = []
  const timezone = await zoneNow(ctx)
  for (const params of wanted.filter((params) => !running.some((row) => same(row, params)))) {
    const next_at = await firstInstant(params, ctx.clock.now(), timezone)
    if (next_at !== null) begun.push({ kind: 'schedule', params, next_at })
  }
  if (begun.length > 0) await insertSweeps(ctx, id, begun)
}

/** Looks up when the schedules of a journey that is restored come next. One that has ended meanwhile stays ended. */
export async function continueSchedules(ctx: InTx, id: JourneyId): Promise<void> {
  const found: { id: number; next: Date }[] = []
  const timezone = await zoneNow(ctx)
  for (const row of await sweepsOf(ctx, id, ['schedule'])) {
    const next = await nextInstant(row.params as ScheduleParams, ctx.clock.now(), timezone)
    if (next !== null) found.push({ id: row.id, next })
  }
  if (found.length > 0) await saveNext(ctx, found)
}

/** The time zone of the project. The one of a request may be some seconds old. */
const zoneNow = async (ctx: InTx): Promise<string> => (await findProject(ctx, ctx.projectId)).timezone

function scheduleOf(ctx: ProjectCtx, step: string, { list_id, schedule, zone = 'project' }: Entrance): ScheduleParams[] {
  if (list_id === undefined || schedule === undefined) return []
  return [{ step, list_id, schedule, zone, since: ctx.clock.now().toISOString() }]
}

/**
 * Members enter when `existing` is new: not again with each version, and not before the journey is live. Sweeps of earlier versions that
 * still wait or run go on if the version has their entrance.
 */
async function beginExisting(ctx: InTx, id: JourneyId, { version, steps, former }: Published): Promise<void> {
  const has = (entrances: ReturnType<typeof entrancesWith>, step: string, list_id: ListId) =>
    entrances.some((one) => one.step === step && one.settings.existing === true && one.settings.list_id === list_id)
  const [before, after] = [entrancesWith(former, 'list'), entrancesWith(steps, 'list')]
  const ended = (await sweepsOf(ctx, id, ['existing'])).filter(({ params }) => {
    const { step, list_id } = params as { step: string; list_id: ListId }
    return !has(after, step, list_id)
  })
  if (ended.length > 0)
    await deleteSweepsById(
      ctx,
      ended.map((row) => row.id),
    )
  const begun = after.flatMap(({ step, settings: { list_id, existing } }) => {
    if (list_id === undefined || existing !== true || has(before, step, list_id)) return []
    return [{ kind: 'existing' as const, params: { step, list_id, version, waits: true as const }, next_at: ctx.clock.now() }]
  })
  if (begun.length > 0) await insertSweeps(ctx, id, begun)
  if ((await findJourney(ctx, id))?.status === 'live') await startExisting(ctx, id)
}
