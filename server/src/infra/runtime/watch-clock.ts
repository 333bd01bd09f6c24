/** Rows have the times of the processes that wrote them, so the clocks should agree. Logs a warning if they do not. */
import { Instant } from '../../lib/shapes.ts'
import { HOUR_MS, SECOND_MS } from '../../lib/times.ts'
import { sql } from '../postgres/db.ts'
import type { Ctx } from './ctx.ts'

const CHECK_EVERY_MS = HOUR_MS
const DIFFERENCE_MAX_MS = SECOND_MS

type Watching = Pick<Ctx, 'db' | 'clock' | 'log'>

/** Compares the clock of this process with that of the database, now and every hour. */
export function watchClock(ctx: Watching): AsyncDisposable {
  const stop = new AbortController()
  const watching = keepChecking()
  return {
    async [Symbol.asyncDispose]() {
      stop.abort('stopped')
      await watching
    },
  }

  async function keepChecking(): Promise<void> {
    while (!stop.signal.aborted) {
      // A database that is away is reported elsewhere.
      await checkClock(ctx).catch(() => undefined)
      await ctx.clock.sleep(CHECK_EVERY_MS, stop.signal)
    }
  }
}

/** Logs a warning if the clocks differ. Returns by how much that of this process is ahead, at least: a round trip hides as much as it takes. */
export async function checkClock({ db, clock, log }: Watching): Promise<number> {
  const before = clock.now().getTime()
  const there = (await db.value(Instant, sql`select clock_timestamp() as at`)).getTime()
  const after = clock.now().getTime()
  const aheadMs = before > there ? before - there : Math.min(0, after - there)
  if (Math.abs(aheadMs) > DIFFERENCE_MAX_MS)
    log.warn(
      { ahead_s: aheadMs / SECOND_MS },
      'the clock of this machine differs from that of the database: synchronise both, for example by NTP',
    )
  return aheadMs
}
