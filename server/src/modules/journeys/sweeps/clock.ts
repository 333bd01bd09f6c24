/** A clock that was ahead and has been set back (D-JRN-30). */
import { type Ctx, type InTx, inTx } from '../../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../../lib/ids.ts'
import { MINUTE_MS } from '../../../lib/times.ts'
import { eachAlone, failedIn, ofProject } from '../../projects/index.ts'
import { CALL_LEASE_MS } from '../call-times.ts'
import { AHEAD_MS } from '../engine/entry.ts'
import { CALL, CHECK_CLOCK, SWEEP } from '../job-names.ts'
import * as queries from './clock.queries.ts'
import type { ScheduleParams } from './kinds.ts'
import { firstInstant } from './schedules.ts'

const NOTED_EVERY_MS = MINUTE_MS

/** Sets what is dated in the future, because a clock was ahead, back to now. Returns the number of projects. */
export async function checkClock(ctx: Ctx): Promise<number> {
  const failed = failedIn<ProjectId>(ctx, CHECK_CLOCK)
  const ahead = (await queries.projectsAhead(ctx, AHEAD_MS)).filter(({ project_id }) => !failed.includes(project_id))
  const done = await eachAlone(ctx, CHECK_CLOCK, ahead.map(ofProject), (ctx) => inTx(ctx, setBack))
  await queries.noteTime(ctx, NOTED_EVERY_MS)
  return done
}

async function setBack(ctx: InTx): Promise<number> {
  const now = ctx.clock.now()
  if (!(await queries.setTime(ctx, AHEAD_MS))) return 0
  await queries.setBackRatesAndCalls(ctx, new Date(now.getTime() + CALL_LEASE_MS))
  await queries.setBackSweeps(ctx)
  await queries.sweepAll(ctx, new Date(now.getTime() + AHEAD_MS))
  const schedules: { id: number; next: Date }[] = []
  for (const { id, params } of await queries.lockSchedulesAfter(ctx, now)) {
    const next = await firstInstant(params as ScheduleParams, now, ctx.project.timezone)
    if (next !== null) schedules.push({ id, next })
  }
  await queries.saveNext(ctx, schedules)
  ctx.wake(CALL)
  ctx.wake(SWEEP)
  return 1
}
