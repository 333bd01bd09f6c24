/** Switching a journey off and letting its users finish, exit or wait (D-JRN-6). */
import { APPLY } from '../../infra/queue/queue.ts'
import { type InTx, inTx, type ProjectCtx } from '../../infra/runtime/ctx.ts'
import { fault } from '../../lib/errors.ts'
import type { JourneyId } from '../../lib/ids.ts'
import { durationMs, durationProblem } from '../rules/index.ts'
import { SWEEP } from './job-names.ts'
import { lockJourney } from './lock.ts'
import { presentJourney } from './present.ts'
import * as queries from './queries.ts'
import type { Journey, JourneyRow } from './schema.ts'
import { deleteExisting, deleteExits, deleteSweeps, insertSweep } from './sweeps/queries.ts'

const shown = async (ctx: InTx, id: JourneyId): Promise<Journey> => presentJourney(ctx, (await queries.findJourney(ctx, id)) as JourneyRow)

/** Switches a journey off. Users inside finish; with `within`, those who are still inside after it exit. Throws 404, 422. */
export const drainJourney = (ctx: ProjectCtx, id: JourneyId, { within }: { within?: string }): Promise<Journey> =>
  inTx(ctx, async (ctx) => {
    const problem = within === undefined ? null : durationProblem(within)
    if (problem) throw fault('validation_failed', 'within', `The value of \`within\` ${problem}.`)
    await lockStarted(ctx, id)
    const until = within === undefined ? null : new Date(ctx.clock.now().getTime() + durationMs(within))
    await queries.switchOff(ctx, id, until)
    await deleteExits(ctx, id)
    await deleteExisting(ctx, id)
    if (until) await startExit(ctx, id, 'drained', until)
    return shown(ctx, id)
  })

/** Switches a journey off. All users inside exit. Throws 404, 422. */
export const stopJourney = (ctx: ProjectCtx, id: JourneyId): Promise<Journey> =>
  inTx(ctx, async (ctx) => {
    await lockStarted(ctx, id)
    await queries.switchOff(ctx, id, null)
    await deleteSweeps(ctx, id, ['publish', 'exit'])
    await deleteExisting(ctx, id)
    await startExit(ctx, id, 'stopped', ctx.clock.now())
    return shown(ctx, id)
  })

/** Holds a journey: users who reach a step with an effect outside the journey wait there, and no timer fires. Throws 404, 422. */
export const holdJourney = (ctx: ProjectCtx, id: JourneyId): Promise<Journey> =>
  inTx(ctx, async (ctx) => {
    await lockStarted(ctx, id)
    await queries.setHeld(ctx, id, true)
    await deleteSweeps(ctx, id, ['resume'])
    return shown(ctx, id)
  })

/** Resumes a journey. Users who were held continue. Throws 404, 422. */
export const resumeJourney = (ctx: ProjectCtx, id: JourneyId): Promise<Journey> =>
  inTx(ctx, async (ctx) => {
    const { is_held } = await lockStarted(ctx, id)
    await queries.setHeld(ctx, id, false)
    if (is_held) await insertSweep(ctx, id, { kind: 'resume', params: {} }, ctx.clock.now())
    ctx.wake(SWEEP)
    // Timers that became due meanwhile.
    ctx.wake(APPLY)
    return shown(ctx, id)
  })

async function lockStarted(ctx: InTx, id: JourneyId): Promise<JourneyRow> {
  const journey = await lockJourney(ctx, id)
  if (journey.status === 'draft') throw fault('validation_failed', 'status', 'The journey is a draft. Publish it first.')
  return journey
}

async function startExit(ctx: InTx, id: JourneyId, reason: 'stopped' | 'drained', at: Date): Promise<void> {
  await insertSweep(ctx, id, { kind: 'exit', params: { reason, before: at.toISOString() } }, at)
  ctx.wake(SWEEP)
}
