/**
 * Checks that whatever writes work for a job also wakes it: without that, the work would wait for the next time that the job looks by
 * itself. The first `drain` of a world and one in four check it.
 */
import type { Job } from '../src/infra/queue/jobs.ts'
import type { Ctx, JobName } from '../src/infra/runtime/ctx.ts'

export type WakeCheck = {
  wake(job: JobName): void
  /** Forgets when jobs are due: another world has another clock. */
  restart(): void
  /** Call it before the jobs run. Disposing of the result ends the drain. */
  begin(): Disposable
  /** Whether a job found no work the last time, has not been woken since, and is not due. */
  isAsleep(ctx: Ctx, job: Job): boolean
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
  const sleeps = (ctx: Ctx, name: string) => {
    const until = asleep.get(name)
    return until === null || (until !== undefined && until > ctx.clock.now().getTime())
  }
  return {
    wake: ({ name }) => void woken.add(name),
    restart: () => asleep.clear(),
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
    isAsleep: (ctx, { name }) => sleeps(ctx, name) && !woken.has(name),
    async run(ctx, job, run) {
      const { name, idleMs } = job
      const wasWoken = woken.delete(name)
      const isExpected = !sleeps(ctx, name) || wasWoken
      const done = await run()
      if (drains > 1) return done
      // A job that looks for work by itself, now and then, needs no waking.
      if (done > 0 && !isExpected && idleMs === undefined) {
        throw new Error(`The job ${name} had work and was not woken. Call ctx.wake where the work is written.`)
      }
      asleep.set(name, await sleepsUntil(ctx, job, done))
      return done
    },
  }
}

async function sleepsUntil(ctx: Ctx, { idleMs, nextAt }: Job, done: number): Promise<number | null> {
  const now = ctx.clock.now().getTime()
  if (done > 0) return now
  return idleMs === undefined ? ((await nextAt?.(ctx))?.getTime() ?? null) : now + idleMs
}
