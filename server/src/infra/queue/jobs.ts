/**
 * Background jobs. A job looks for work that is due, does one batch, and returns how much it did. It claims its work in the database, so
 * that any number of processes may run the same job, and repeating a batch has no further effect.
 */
import type { Ctx, JobName } from '../runtime/ctx.ts'

/** Work that was begun: how many pieces, and when all of it is finished. */
export type Started = { done: number; finished: Promise<void> }

export type Job = {
  name: string
  /** The wait after a run that found no work. */
  idleMs: number
  /**
   * Does one batch. Returns how many pieces of work that were, 0 when there were none. A job that returns what it has started limits
   * itself how much that is: the next batch begins before it is finished.
   */
  run(ctx: Ctx, signal: AbortSignal): Promise<number | Started>
}

/** Declares a job. */
export const job = (definition: Job): Job => definition

const RETRY_FIRST_MS = 250
const RETRY_MAX_MS = 15_000

/** Runs one batch of a job to its end. Returns how many pieces of work that were. */
export async function runToEnd(job: Job, ctx: Ctx, signal: AbortSignal): Promise<number> {
  const result = await job.run(ctx, signal)
  if (typeof result === 'number') return result
  await result.finished
  return result.done
}

export type Jobs = AsyncDisposable & {
  /** Ends the wait of a job, because there is work. */
  wake(job: JobName): void
}

/** Runs each job in a loop until the result is disposed of. Running batches finish first. */
export function startJobs(ctx: Ctx, jobs: Job[]): Jobs {
  const stop = new AbortController()
  const alarms = new Map<string, AbortController>()
  const loops = jobs.map((job) => loop(ctx, job, stop.signal, alarms))
  return {
    wake: ({ name }) => alarms.get(name)?.abort(),
    async [Symbol.asyncDispose]() {
      stop.abort()
      for (const alarm of alarms.values()) alarm.abort()
      await Promise.all(loops)
    },
  }
}

async function loop(ctx: Ctx, job: Job, stop: AbortSignal, alarms: Map<string, AbortController>): Promise<void> {
  const log = ctx.log.child({ job: job.name })
  const inFlight = new Set<Promise<void>>()
  let failures = 0
  while (!stop.aborted) {
    // The alarm is set before the run, so that a wake-up during the run ends the next sleep.
    const alarm = new AbortController()
    alarms.set(job.name, alarm)
    const { done, finished } = await once({ ...ctx, log }, job, stop)
    if (finished && done !== 0) follow(finished, alarm)
    failures = done === 'failed' ? failures + 1 : 0
    if (done === 'failed') await ctx.clock.sleep(Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** failures), stop)
    else if (done === 0) await ctx.clock.sleep(job.idleMs, AbortSignal.any([stop, alarm.signal]))
  }
  await Promise.all(inFlight)

  /** The next batch begins at the latest when this one is finished. */
  function follow(finished: Promise<void>, alarm: AbortController): void {
    const started = performance.now()
    const followed = finished
      .catch((error: unknown) => reportFailure({ ...ctx, log }, job, started, error))
      .finally(() => {
        inFlight.delete(followed)
        alarms.get(job.name)?.abort()
        alarm.abort()
      })
    inFlight.add(followed)
  }
}

async function once(ctx: Ctx, job: Job, stop: AbortSignal): Promise<{ done: number | 'failed'; finished?: Promise<void> }> {
  const started = performance.now()
  try {
    const result = await job.run(ctx, stop)
    const { done, finished }: Partial<Started> & { done: number } = typeof result === 'number' ? { done: result } : result
    if (done > 0) ctx.metrics.jobRun(job.name, 'done', performance.now() - started)
    return { done, ...(finished && { finished }) }
  } catch (error) {
    reportFailure(ctx, job, started, error)
    return { done: 'failed' }
  }
}

function reportFailure(ctx: Ctx, job: Job, started: number, error: unknown): void {
  ctx.metrics.jobRun(job.name, 'failed', performance.now() - started)
  ctx.log.error({ err: error }, 'job failed; it will be retried')
}
