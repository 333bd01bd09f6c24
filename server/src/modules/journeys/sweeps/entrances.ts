/** The sweeps by which users enter: schedules, and the members that a list already has at a publication. */
import { isDeepStrictEqual } from 'node:util'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { JourneyId, ListId } from '../../../lib/ids.ts'
import type { Step } from '../schema.ts'
import type { ScheduleParams } from './kinds.ts'
import { deleteSweep, insertSweep, type SweepRow, sweepsOf } from './queries.ts'
import { firstInstant } from './schedules.ts'

type Entrance = { trigger?: string; list_id?: ListId; schedule?: string; zone?: 'project' | 'user'; existing?: boolean }

const entrancesWith = (steps: readonly Step[], trigger: string): { step: string; settings: Entrance }[] =>
  steps
    .filter(({ type, data }) => type === 'entrance' && (data as Entrance).trigger === trigger)
    .map(({ external_id, data }) => ({ step: external_id, settings: data as Entrance }))

type Published = { version: number; steps: readonly Step[]; former: readonly Step[] }

/** Starts the sweeps of a published version. A schedule that did not change goes on; one that is not in it ends. */
export async function startEntranceSweeps(ctx: InTx, id: JourneyId, published: Published): Promise<void> {
  await startSchedules(ctx, id, published.steps)
  await startExisting(ctx, id, published)
}

async function startSchedules(ctx: InTx, id: JourneyId, steps: readonly Step[]): Promise<void> {
  const running = await sweepsOf(ctx, id, ['schedule'])
  const wanted = entrancesWith(steps, 'schedule').flatMap(({ step, settings }) => scheduleOf(ctx, step, settings))
  const same = (row: SweepRow, params: ScheduleParams) => {
    const { since: _, ...known } = row.params as ScheduleParams
    const { since: __, ...given } = params
    return isDeepStrictEqual(known, given)
  }
  for (const row of running) if (!wanted.some((params) => same(row, params))) await deleteSweep(ctx, row.id)
  for (const params of wanted) {
    if (running.some((row) => same(row, params))) continue
    const first = firstInstant(params, ctx.clock.now(), ctx.project.timezone)
    if (first) await insertSweep(ctx, id, { kind: 'schedule', params }, first)
  }
}

function scheduleOf(ctx: ProjectCtx, step: string, { list_id, schedule, zone = 'project' }: Entrance): ScheduleParams[] {
  if (list_id === undefined || schedule === undefined) return []
  return [{ step, list_id, schedule, zone, since: ctx.clock.now().toISOString() }]
}

/** Members enter when `existing` is new: not again with each version. */
async function startExisting(ctx: InTx, id: JourneyId, { version, steps, former }: Published): Promise<void> {
  const before = new Map(entrancesWith(former, 'list').map(({ step, settings }) => [step, settings]))
  for (const { step, settings } of entrancesWith(steps, 'list')) {
    const { list_id, existing } = settings
    const known = before.get(step)
    if (list_id === undefined || existing !== true || (known?.existing === true && known.list_id === list_id)) continue
    await insertSweep(ctx, id, { kind: 'existing', params: { step, list_id, version } }, ctx.clock.now())
  }
}
