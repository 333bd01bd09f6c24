/**
 * Which projects are applied when. The small backlogs of many projects are applied together, over joint statements. A project with a
 * large backlog is applied by itself, beside them, at most two at a time; the processes on the database share its batches. A small
 * project never waits for the backlog of another project, and its events share their statements with those of other small projects. While
 * small projects have events, large backlogs get at most a third of the time.
 */
import { mapWithConcurrency } from '../../lib/concurrency.ts'
import type { ProjectId } from '../../lib/ids.ts'
import type { Db } from '../postgres/db.ts'
import { jointViews } from '../postgres/joint.ts'
import { type Ctx, quickly } from '../runtime/ctx.ts'
import { type BatchSize, consumeNext, consumeSmall } from './consume.ts'
import type { Consumer, DueWork, QueuedItem } from './consumer.ts'
import { PARTITIONS_EACH } from './divided.ts'
import type { Started } from './jobs.ts'
import { countWorkers } from './other-processes.ts'
import { type Backlog, projectsWithEntries } from './queue.ts'
import { retryAfterMs } from './retry-after.ts'

/** A backlog of fewer items is small. */
const SMALL_ITEMS = 200
/** A project whose batches were full so many times, one after the other, has a large backlog of small requests. */
const FULL_BATCHES = 3
/** So many projects share statements. With more of them waiting the groups are larger, because statements then cost more than rows. */
const TOGETHER_MIN = 64
const TOGETHER_MAX = 256
/** So many groups are applied at a time: one while the other waits for the database. */
const GROUPS_AT_ONCE = 2
const GROUP_ITEMS_MAX = 4000
/** So many large backlogs are applied at a time. */
const ALONE_AT_ONCE = 2
const BATCH_ITEMS = 6000
/** A batch holds up the event loop in proportion to its size, so it is smaller while other projects have events. */
const BATCH_ITEMS_BESIDE_OTHERS = 500
const OTHERS_FOR_MS = 2000
/** Beside other projects, a large backlog rests for so many times as long as its last batch took. */
const REST = 2
/** So many processes share a batch. */
const SHARERS_MAX = 4
/** A batch that several processes share is so many times as large. Its leader reads all of it. */
const LARGER_MAX = 2
const WORKERS_KNOWN_MS = 1000
/** A project that another process leads, which has left nothing to this one, is looked at again after this time. */
const ELSEWHERE_MS = 20

/**
 * What this process is applying by itself, the order in which projects were started, until when it leaves projects to other processes, which
 * projects failed how often in a row and when, how many full small batches projects had, when the last large batch ended, and how many processes there are.
 */
type State = {
  inFlight: Map<ProjectId, Promise<void>>
  lastStart: Map<ProjectId, number>
  starts: number
  othersUntilMs: number
  elsewhere: Map<ProjectId, number>
  failed: Map<ProjectId, Failed>
  full: Map<ProjectId, number>
  lastLarge: { endedMs: number; tookMs: number }
  workers: { count: number; knownUntilMs: number }
}

type Failed = { times: number; atMs: number }

const viewOf = jointViews()
const states = new WeakMap<Db, State>()

function stateOf({ db }: Ctx): State {
  const known = states.get(db)
  if (known) return known
  const workers = { count: 1, knownUntilMs: 0 }
  const state: State = {
    inFlight: new Map(),
    lastStart: new Map(),
    starts: 0,
    othersUntilMs: 0,
    elsewhere: new Map(),
    failed: new Map(),
    full: new Map(),
    lastLarge: { endedMs: 0, tookMs: 0 },
    workers,
  }
  states.set(db, state)
  return state
}

/** Applies one batch of each project with accepted requests. Those with a large backlog may take longer than the call. */
export async function consumeDue<I extends QueuedItem, K, D extends DueWork>(ctx: Ctx, consumer: Consumer<I, K, D>): Promise<Started> {
  const state = stateOf(ctx)
  const projects = await projectsWithWork(ctx, consumer)
  const due = projects.filter(
    ({ project_id }) => !state.inFlight.has(project_id) && !isLeft(state, project_id) && !isPutOff(ctx, state, project_id),
  )
  const isLarge = ({ project_id, items }: Backlog) => items >= SMALL_ITEMS || (state.full.get(project_id) ?? 0) >= FULL_BATCHES
  const small = due.filter((backlog) => !isLarge(backlog))
  const large = due.filter(isLarge).map(({ project_id }) => project_id)
  const nowMs = ctx.clock.now().getTime()
  if (small.length > 0) state.othersUntilMs = nowMs + OTHERS_FOR_MS
  const started = small.length > 0 && isResting(state, nowMs) ? [] : await startAlone(ctx, state, large, consumer)
  const view = { ...ctx, db: viewOf(ctx.db) }
  const left: ProjectId[] = []
  let done = 0
  await mapWithConcurrency(groupsOf(small), GROUPS_AT_ONCE, async (group) => {
    const outcomes = await mapWithConcurrency(group, group.length, (id) => consumeSmall(view, id, consumer, SMALL_ITEMS))
    for (const [at, outcome] of outcomes.entries()) {
      const id = group[at] as ProjectId
      if (outcome === 'alone') left.push(id)
      else if (outcome > 0) {
        done += outcome
        state.failed.delete(id)
      }
      if (outcome === 'alone' || outcome < SMALL_ITEMS) state.full.delete(id)
      else state.full.set(id, (state.full.get(id) ?? 0) + 1)
    }
  })
  started.push(...(await startAlone(ctx, state, left, consumer)))
  done += started.length
  const nextAt = done === 0 ? await nextTryAt(ctx, state, projects, consumer) : undefined
  const finished = mapWithConcurrency(started, started.length, (work) => work).then(() => undefined)
  return { done, finished, ...(nextAt && { nextAt }) }
}

/**
 * When a project that is put off is tried again, or other work is due, if that is before. Undefined if a project is neither put off nor
 * being applied by this process: the end of that wakes the job.
 */
async function nextTryAt<I extends QueuedItem, K, D extends DueWork>(
  ctx: Ctx,
  state: State,
  projects: Backlog[],
  consumer: Consumer<I, K, D>,
): Promise<Date | undefined> {
  const ids = projects.map(({ project_id }) => project_id)
  const putOff = ids.filter((id) => isPutOff(ctx, state, id))
  const resting = new Set([...putOff, ...state.inFlight.keys()])
  if (putOff.length === 0 || !ids.every((id) => resting.has(id))) return undefined
  const ends = putOff.map((id) => endOfWait(state.failed.get(id) as Failed))
  const dueAt = await consumer.nextDueAt(quickly(ctx), resting)
  return new Date(Math.min(...ends, dueAt?.getTime() ?? Number.POSITIVE_INFINITY))
}

/** The projects with entries, and those with work that is due by itself. */
async function projectsWithWork<I extends QueuedItem, K, D extends DueWork>(ctx: Ctx, consumer: Consumer<I, K, D>) {
  const [withEntries, withDue] = await Promise.all([projectsWithEntries(quickly(ctx)), consumer.projectsDue(ctx)])
  const known = new Set(withEntries.map(({ project_id }) => project_id))
  const due = withDue.filter((id) => !known.has(id))
  return [...withEntries, ...due.map((project_id) => ({ project_id, items: 0 }))]
}

/** Divides small backlogs into groups that are applied together, of about equal numbers of projects and a limited number of items. */
function groupsOf(small: Backlog[]): ProjectId[][] {
  const size = Math.min(TOGETHER_MAX, Math.max(TOGETHER_MIN, Math.ceil(small.length / GROUPS_AT_ONCE)))
  const groups: ProjectId[][] = []
  let room = 0
  for (const { project_id, items } of small) {
    const group = groups.at(-1)
    room -= items
    if (group && group.length < size && room >= 0) group.push(project_id)
    else {
      groups.push([project_id])
      room = GROUP_ITEMS_MAX - items
    }
  }
  return groups
}

/** Is another process left to apply the project for now? */
function isLeft({ elsewhere }: State, id: ProjectId): boolean {
  const until = elsewhere.get(id)
  if (until === undefined || performance.now() < until) return until !== undefined
  elsewhere.delete(id)
  return false
}

/** Is the project tried again later, because it failed? After a clock that was set back it is tried at once. */
function isPutOff({ clock }: Ctx, { failed }: State, id: ProjectId): boolean {
  const last = failed.get(id)
  const nowMs = clock.now().getTime()
  return last !== undefined && nowMs >= last.atMs && nowMs < endOfWait(last)
}

const endOfWait = ({ atMs, times }: Failed): number => atMs + retryAfterMs(times)

/** Do large backlogs rest after their last batch? After a clock that was set back they do not. */
const isResting = ({ lastLarge: { endedMs, tookMs } }: State, nowMs: number): boolean => nowMs >= endedMs && nowMs < endedMs + REST * tookMs

/** Starts as many of these projects as there is room for; those that were started longest ago first. */
async function startAlone<I extends QueuedItem, K, D extends DueWork>(
  ctx: Ctx,
  state: State,
  projects: ProjectId[],
  consumer: Consumer<I, K, D>,
): Promise<Promise<void>[]> {
  const startOf = (id: ProjectId) => state.lastStart.get(id) ?? 0
  const next = [...projects].sort((a, b) => startOf(a) - startOf(b)).slice(0, Math.max(0, ALONE_AT_ONCE - state.inFlight.size))
  if (next.length === 0) return []
  const size = batchSize(ctx, state, await workersOf(ctx, state))
  return next.map((id) => {
    state.full.delete(id)
    state.lastStart.delete(id)
    state.lastStart.set(id, ++state.starts)
    const [oldest] = state.lastStart.keys()
    if (state.lastStart.size > STARTS_KEPT && oldest !== undefined) state.lastStart.delete(oldest)
    const begunMs = ctx.clock.now().getTime()
    const work = consumeNext(ctx, id, consumer, size)
      .then((applied) => {
        const endedMs = ctx.clock.now().getTime()
        state.lastLarge = { endedMs, tookMs: endedMs - begunMs }
        state.failed.delete(id)
        if (applied === 0) state.elsewhere.set(id, performance.now() + ELSEWHERE_MS)
      })
      .catch((error: unknown) => {
        // The job itself goes on for the other projects.
        state.failed.set(id, { times: (state.failed.get(id)?.times ?? 0) + 1, atMs: ctx.clock.now().getTime() })
        throw error
      })
      .finally(() => state.inFlight.delete(id))
    // Reported by `finished`; a failure before that must not end the process.
    work.catch(() => undefined)
    state.inFlight.set(id, work)
    return work
  })
}

/** The number of processes that apply requests, this one included. */
async function workersOf(ctx: Ctx, state: State): Promise<number> {
  if (performance.now() >= state.workers.knownUntilMs)
    state.workers = { count: Math.max(1, await countWorkers(ctx)), knownUntilMs: performance.now() + WORKERS_KNOWN_MS }
  return state.workers.count
}

/** Each process that shares a batch finds as many partitions as it applies at a time. */
function batchSize(ctx: Ctx, state: State, workers: number): BatchSize {
  const items = ctx.clock.now().getTime() < state.othersUntilMs ? BATCH_ITEMS_BESIDE_OTHERS : BATCH_ITEMS
  return { items: items * Math.min(workers, LARGER_MAX), partitions: PARTITIONS_EACH * Math.min(workers, SHARERS_MAX) }
}

const STARTS_KEPT = 1000
