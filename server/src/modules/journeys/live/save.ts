/** Saves what a wave changed, with one statement for each kind of row. */
import { APPLY } from '../../../infra/queue/queue.ts'
import { afterCommit, type InTx } from '../../../infra/runtime/ctx.ts'
import { namesInRules } from '../../lists/index.ts'
import { abortJourneyMessages } from '../../messages/index.ts'
import {
  copyPast,
  deleteEntrances,
  deleteTimers,
  insertEntrances,
  insertTimers,
  saveJourneyUsers,
  type TimerRow,
  updateEntrances,
} from '../../positions/index.ts'
import { appendUserChanges } from '../../users/index.ts'
import { type Entrance, hasLeftEarly, park } from '../engine/entrance.ts'
import { activeOf, deltaOf, type Run } from '../engine/run.ts'
import { queuedVisits } from '../steps/action.ts'
import * as queries from './queries.ts'
import { changeOf, pastOf, rowOf } from './rows.ts'

/** Saves the entrances, timers, counts and keys of a run. */
export async function save(ctx: InTx, run: Run): Promise<void> {
  const all = [...run.entrances.values()].flat()
  const ended = all.filter(({ outcome }) => outcome !== null)
  for (const entrance of ended) countEnd(run, entrance)
  for (const id of run.entrances.keys()) for (const entrance of activeOf(run, id)) requireTimer(entrance)
  const changed = all.filter(({ outcome, isChanged }) => outcome === null && isChanged)
  await saveTimers(ctx, [...ended, ...changed])
  // Those that ended are deleted first, because new ones may take their slots.
  const gone = ended.filter(({ stored }) => stored !== null).map(({ userId, id }) => ({ user_id: userId, entrance_id: id }))
  if (gone.length > 0) await deleteEntrances(ctx, gone)
  const begun = changed.filter(({ stored }) => stored === null)
  const moved = changed.filter(({ stored }) => stored !== null)
  if (moved.length > 0) await updateEntrances(ctx, moved.map(changeOf))
  if (begun.length > 0) await insertEntrances(ctx, begun.map(rowOf))
  if (ended.length > 0) await copyPast(ctx, ended.flatMap(pastOf))
  const deltas = [...run.deltas.values()].filter(isSomething)
  if (deltas.length > 0) await saveJourneyUsers(ctx, deltas)
  if (run.keys.size > 0) await queries.saveKeys(ctx, [...run.keys.values()])
  if (run.counts.size > 0) await queries.appendCounts(ctx, [...run.counts.values()])
  await dropWaiting(ctx, [...ended, ...moved])
  const passed = all.filter(({ stored, outcome, visitsNow }) => stored === null || outcome !== null || visitsNow > 0)
  const heldOut = [...run.deltas.values()].filter(({ held_out_at }) => held_out_at !== null)
  await tellLists(ctx, [...passed, ...heldOut.map(({ user_id: userId, journey_id: journeyId }) => ({ userId, journeyId }))])
  report(ctx, run, ended)
}

/** An entrance has a timer, is parked, or waits until the journey is resumed. */
function requireTimer(entrance: Entrance): void {
  if (entrance.dueAt !== null || entrance.parked !== null || entrance.isHeld) return
  park(entrance, `arrived: The step ${entrance.step.key} neither moves on nor waits.`, entrance.actedAt)
}

function countEnd(run: Run, { userId, journeyId, outcome }: Entrance): void {
  if (outcome === null) return
  const delta = deltaOf(run, userId, journeyId)
  delta.active--
  delta[outcome.as]++
  delta.last_ended_at = outcome.at
  delta.last_outcome = outcome.as
}

const isSomething = (delta: ReturnType<typeof deltaOf>): boolean =>
  delta.entered + delta.completed + delta.exited > 0 ||
  delta.held_out_at !== null ||
  delta.arm !== null ||
  Object.keys(delta.goals).length > 0

async function saveTimers(ctx: InTx, entrances: Entrance[]): Promise<void> {
  const isSame = ({ stored, dueAt }: Entrance) => stored !== null && stored.dueAt?.getTime() === dueAt?.getTime()
  const before = entrances.flatMap((entrance) => {
    const { journeyId, userId, id, stored } = entrance
    return stored?.dueAt && !isSame(entrance) ? [{ journey_id: journeyId, user_id: userId, entrance_id: id, due_at: stored.dueAt }] : []
  })
  const after = entrances.flatMap((entrance): TimerRow[] => {
    const { journeyId, userId, id, visit, dueAt, stored } = entrance
    if (dueAt === null || (isSame(entrance) && stored?.visit === visit)) return []
    return [{ journey_id: journeyId, user_id: userId, entrance_id: id, visit, due_at: dueAt }]
  })
  if (before.length > 0) await deleteTimers(ctx, before)
  if (after.length > 0) await insertTimers(ctx, after)
  if (after.length > 0) ctx.wake(APPLY)
}

/** Where users are in a journey is a condition of lists, which follow by an item of the queue. */
async function tellLists(ctx: InTx, moved: Pick<Entrance, 'userId' | 'journeyId'>[]): Promise<void> {
  const names = [...new Set(moved.map(({ journeyId }) => `journey:${journeyId}`))]
  const named = new Set(names.length === 0 ? [] : await namesInRules(ctx, names))
  if (named.size === 0) return
  const changes = moved.map(({ userId, journeyId }) => ({ user_id: userId, what: [`journey:${journeyId}`] }))
  await appendUserChanges(
    ctx,
    changes.filter(({ what: [name] }) => named.has(name as string)),
  )
}

/**
 * Aborts the messages that users have left while they waited for them, those that wait for users who left the journey early, and the calls
 * that are not answered.
 */
async function dropWaiting(ctx: InTx, entrances: Entrance[]): Promise<void> {
  const left = entrances.flatMap(leftWaiting)
  const messages = [...left.filter(({ type }) => type === 'action'), ...entrances.filter(hasLeftEarly).flatMap(queuedOf)]
  if (messages.length > 0) {
    await abortJourneyMessages(
      ctx,
      messages.map(({ user_id, entrance_id, visit }) => ({ user_id, cause: causeOf(entrance_id, visit) })),
    )
  }
  const calls = left.filter(({ type }) => type === 'webhook')
  if (calls.length > 0) await queries.deleteCalls(ctx, calls)
}

/**
 * The visit that was stored, if the user left it otherwise than by a path: by an exit, by hand or by a new version. Or if the path was taken
 * without the answer of the call.
 */
function leftWaiting({ userId, id, trail, stored, answers }: Entrance) {
  const visit = stored && trail.findLast((one) => one.visit === stored.visit)
  if (!visit || visit.left_at === null) return []
  const isUnanswered = stored.type === 'webhook' && stored.answers === answers
  if (visit.path !== null && !isUnanswered) return []
  return [{ user_id: userId, entrance_id: id, visit: visit.visit, type: stored.type }]
}

const queuedOf = ({ userId, id, trail }: Entrance) => queuedVisits(trail).map((visit) => ({ user_id: userId, entrance_id: id, visit }))

/** The cause of the message of a visit. */
export const causeOf = (entranceId: number, visit: number): string => `journey:${entranceId}:${visit}`

/** Counts for operators what was committed: a batch may be tried several times. */
function report(ctx: InTx, { counts, rounds, decisions }: Run, { length: ended }: Entrance[]): void {
  const { metrics } = ctx
  afterCommit(ctx, () => {
    for (const { what, users, reason, kind = '', path } of counts.values()) {
      if (what === 'arrived') metrics.journeySteps(kind, 'arrived', users)
      if (what === 'left') metrics.journeySteps(kind, path === null ? 'left' : 'passed', users)
      if (what === 'entered' || what === 'stale' || what === 'held_out') metrics.journeys(what, users)
      if (what === 'refused') metrics.journeyRefusals(reason ?? '', users)
    }
    if (ended > 0) metrics.journeys('ended', ended)
    metrics.journeyRounds('waves', 1)
    metrics.journeyRounds('rounds', rounds)
    metrics.journeyRounds('decisions', decisions)
  })
}
