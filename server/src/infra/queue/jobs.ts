/**
 * Background work: a job looks for something to do, does one batch of it, and says how much it did.
 * It claims its work in the database, so that any number of processes may run the same jobs, and may run twice harmlessly.
 */
import type { Ctx, JobName } from '../runtime/ctx.ts'

export type Job = {
  name: string
  /** How long to wait after a run that found nothing. */
  idleMs: number
  /** Does one batch; the answer is how many pieces of work it did, 0 when there were none. */
  run(ctx: Ctx, signal: AbortSignal): Promise<number>
}

/** Declares a job. */
export const job = (definition: Job): Job => definition

const RETRY_FIRST_MS = 250
const RETRY_MAX_MS = 15_000

export type Jobs = AsyncDisposable & {
  /** Ends a job's wait: there is work for it. */
  wake(job: JobName): void
}

/** Runs every job in a loop of its own until disposed; running batches are finished first. */
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
  let failures = 0
  while (!stop.aborted) {
    // The alarm is set before the look, so that work which comes while looking is not slept over.
    const alarm = new AbortController()
    alarms.set(job.name, alarm)
    const done = await once({ ...ctx, log }, job, stop)
    failures = done === 'failed' ? failures + 1 : 0
    if (done === 'failed') await ctx.clock.sleep(Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** failures), stop)
    else if (done === 0) await ctx.clock.sleep(job.idleMs, AbortSignal.any([stop, alarm.signal]))
  }
}

async function once(ctx: Ctx, job: Job, stop: AbortSignal): Promise<number | 'failed'> {
  const started = performance.now()
  try {
    const done = await job.run(ctx, stop)
    if (done > 0) ctx.metrics.jobRun(job.name, 'done', performance.now() - started)
    return done
  } catch (error) {
    ctx.metrics.jobRun(job.name, 'failed', performance.now() - started)
    ctx.log.error({ err: error }, 'job failed; it will be tried again')
    return 'failed'
  }
}
