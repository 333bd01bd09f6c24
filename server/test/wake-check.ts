/**
 * Checks that whatever writes work for a job also wakes it: without that, the work would wait for the next time that the job looks by
 * itself. Every `drain` of a world checks it.
 */
import type { Job } from '../src/infra/queue/jobs.ts'
import type { Ctx, JobName } from '../src/infra/runtime/ctx.ts'

export type WakeCheck = {
  wake(job: JobName): void
  /** Call it before the jobs run. Disposing of the result ends the drain. */
  begin(): Disposable
  /** Runs a job by `run`. Throws if it had work without having been woken, and without being due. */
  run(ctx: Ctx, job: Job, run: () => Promise<number>): Promise<number>
}

/** When the next work of a job is due; null when it sleeps until it is woken. */
type Asleep = Map<string, number | null>

const checks = new Map<string, WakeCheck>()

/** The check of a database. Worlds that share a database share it. */
export function wakeCheckOf(databaseUrl: string): WakeCheck {
  const known = checks.get(databaseUrl) ?? createWakeCheck()
  checks.set(databaseUrl, known)
  return known
}

function createWakeCheck(): WakeCheck {
  const woken = new Set<string>()
  const asleep: Asleep = new Map()
  let drains = 0
  return {
    wake: ({ name }) => void woken.add(name),
    begin() {
      drains++
      // What several do at once cannot be told apart.
      if (drains > 1) asleep.clear()
      return {
        [Symbol.dispose]() {
          if (drains > 1) asleep.clear()
          drains--
        },
      }
    },
    async run(ctx, job, run) {
      const { name, idleMs } = job
      const until = asleep.get(name)
      const isExpected = until === undefined || woken.delete(name) || (until !== null && until <= ctx.clock.now().getTime())
      const done = await run()
      // A job that looks for work by itself, now and then, needs no waking.
      if (idleMs !== undefined || drains > 1) return done
      if (done > 0 && !isExpected) throw new Error(`The job ${name} had work and was not woken. Call ctx.wake where the work is written.`)
      asleep.set(name, done > 0 ? ctx.clock.now().getTime() : ((await job.nextAt?.(ctx))?.getTime() ?? null))
      return done
    },
  }
}
