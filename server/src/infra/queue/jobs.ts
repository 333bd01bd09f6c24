/**
 * Background jobs. A job looks for work that is due, does one batch, and returns how much it did. It claims its work in the database, so
 * that any number of processes may run the same job, and repeating a batch has no further effect. A job that found no work sleeps until
 * it is woken, or until its next work is due. It also looks now and then without a reason, in case a wake-up was lost.
 */
import { type Ctx, type JobName, quickly } from '../runtime/ctx.ts'
import { untilNextPieceMs } from './failed-pieces.ts'
import { RETRY_FIRST_MS, retryAfterMs } from './retry-after.ts'

/**
 * Work that was begun: how many pieces, and when all of it is finished. Its end wakes the job, unless it does so itself when there may be more
 * to do. `nextAt` is the answer of the job's `nextAt`, if the run found it out.
 */
export type Started = { done: number; finished: Promise<void>; wakesItself?: true; nextAt?: Date | null }

export type Job = {
  name: string
  /** The longest wait after a run that found no work. Default: that of `Polling`, which is enough for a job that is woken. */
  idleMs?: number
  /** When the next work is due, which may be in the past. Called after a run that found no work; it must be an index lookup. */
  nextAt?(ctx: Ctx): Promise<Date | null>
  /** The wait after a run that found no work although some is due, because it is locked or has to wait. */
  retryMs?: number
  /** A wake-up starts a run at the earliest this long after the start of the last one, so that small pieces of work share a run. */
  gatherMs?: number
  /**
   * Does one batch. Returns how many pieces of work that were, 0 when there were none. A job that returns what it has started limits
   * itself how much that is: the next batch begins before it is finished.
   */
  run(ctx: Ctx, signal: AbortSignal): Promise<number | Started>
}

/** Declares a job. */
export const job = (definition: Job): Job => definition

/** Runs one batch of a job to its end. Returns the number of pieces of work. */
export async function runToEnd(job: Job, ctx: Ctx, signal: AbortSignal): Promise<number> {
  const result = await job.run(ctx, signal)
  if (typeof result === 'number') return result
  await result.finished
  return result.done
}

/** How long a job without `idleMs` sleeps at most. */
export type Polling = () => number

export type Jobs = AsyncDisposable & {
  /** Whether the jobs look for work. They stop when the result is disposed of. */
  isRunning(): boolean
  /** Ends the wait of a job, because there is work. */
  wake(job: JobName): void
  /** Ends the wait of all jobs that wait to be woken, because wake-ups may have been lost. */
  wakeAll(): void
  /** Whether a job is working, or has been woken and is about to. */
  isBusy(job: JobName): boolean
}

/** Given as the reason: without one, each wake-up makes an error with its stack. */
const WOKEN = 'woken'

/** The loop of a job. */
type Loop = { alarm: AbortController; isRunning: boolean; inFlight: Set<Promise<void>> }

/** Runs each job in a loop until the result is disposed of. Running batches finish first. */
export function startJobs(ctx: Ctx, jobs: Job[], pollMs: Polling): Jobs {
  const stop = new AbortController()
  const loops = new Map(
    jobs.map(({ name }): [string, Loop] => [name, { alarm: new AbortController(), isRunning: true, inFlight: new Set() }]),
  )
  const running = jobs.map((job) => run(ctx, job, loops.get(job.name) as Loop, stop.signal, pollMs))
  return {
    isRunning: () => !stop.signal.aborted,
    wake: ({ name }) => loops.get(name)?.alarm.abort(WOKEN),
    wakeAll: () => {
      for (const { name, idleMs } of jobs) if (idleMs === undefined) loops.get(name)?.alarm.abort(WOKEN)
    },
    isBusy: ({ name }) => {
      const loop = loops.get(name)
      return loop !== undefined && (loop.isRunning || loop.inFlight.size > 0 || loop.alarm.signal.aborted)
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await Promise.all(running)
    },
  }
}

async function run(outer: Ctx, job: Job, loop: Loop, stop: AbortSignal, pollMs: Polling): Promise<void> {
  const ctx = { ...outer, log: outer.log.child({ job: job.name }) }
  let failures = 0
  while (!stop.aborted) {
    // The alarm is set before the run, so that a wake-up during the run ends the next sleep.
    const alarm = new AbortController()
    loop.alarm = alarm
    const startedAt = ctx.clock.now().getTime()
    const { done, started, nextAt } = await once(ctx, job, stop, alarm.signal)
    if (started && done !== 0) follow(ctx, job, loop, started)
    failures = done === 'failed' ? failures + 1 : 0
    loop.isRunning = false
    if (done === 'failed') await ctx.clock.sleep(retryAfterMs(failures), stop)
    else if (done === 0) {
      await ctx.clock.sleep(waitMs(ctx, job, nextAt, pollMs()), AbortSignal.any([stop, alarm.signal]))
      const early = earlyMs(ctx, job, startedAt)
      if (early > 0) await ctx.clock.sleep(early, stop)
    }
    loop.isRunning = true
  }
  await Promise.all(loop.inFlight)
}

/**
 * The time until the next work is due or, if it is due and could not be done, until the next try; limited by the safety net, and by when a piece
 * that failed is to be tried again.
 */
function waitMs(ctx: Ctx, { name, idleMs, retryMs = RETRY_FIRST_MS }: Job, nextAt: Date | null, pollMs: number): number {
  const longest = Math.min(idleMs ?? pollMs, untilNextPieceMs(ctx, name) ?? Number.POSITIVE_INFINITY)
  if (!nextAt) return longest
  const untilDue = nextAt.getTime() - ctx.clock.now().getTime()
  return Math.min(longest, untilDue > 0 ? untilDue : retryMs)
}

/** How long before the end of its gathering time a job was woken: all of it at most, however far the clock was set back. */
const earlyMs = ({ clock }: Ctx, { gatherMs = 0 }: Job, startedAt: number): number =>
  Math.min(gatherMs, startedAt + gatherMs - clock.now().getTime())

/** The next batch begins at the latest when this one is finished. */
function follow(ctx: Ctx, job: Job, loop: Loop, { finished, wakesItself }: Started): void {
  const startedAt = performance.now()
  const followed = finished
    .catch((error: unknown) => reportFailure(ctx, job, startedAt, error))
    .finally(() => {
      loop.inFlight.delete(followed)
      if (!wakesItself) loop.alarm.abort(WOKEN)
    })
  loop.inFlight.add(followed)
}

type Run = { done: number | 'failed'; started?: Started; nextAt: Date | null }

async function once(ctx: Ctx, job: Job, stop: AbortSignal, woken: AbortSignal): Promise<Run> {
  const startedAt = performance.now()
  try {
    const result = await job.run(ctx, stop)
    const started = typeof result === 'number' ? undefined : result
    const done = typeof result === 'number' ? result : result.done
    if (done > 0) ctx.metrics.jobRun(job.name, 'done', performance.now() - startedAt)
    const nextAt = done === 0 && !woken.aborted ? await nextOf(ctx, job, started) : null
    return { done, nextAt, ...(started && { started }) }
  } catch (error) {
    reportFailure(ctx, job, startedAt, error)
    return { done: 'failed', nextAt: null }
  }
}

/** When the next work is due, after a run that found none. */
async function nextOf(ctx: Ctx, job: Job, run: Started | undefined): Promise<Date | null> {
  if (run?.nextAt !== undefined) return run.nextAt
  return (await job.nextAt?.(quickly(ctx))) ?? null
}

function reportFailure(ctx: Ctx, job: Job, started: number, error: unknown): void {
  ctx.metrics.jobRun(job.name, 'failed', performance.now() - started)
  ctx.log.error({ err: error }, 'job failed; it will be retried')
}
