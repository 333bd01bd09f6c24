/**
 * The pieces of a job's work that failed in this process. The job leaves each of them out for a time, longer after each failure in a row.
 * Meanwhile it works on the others.
 */
import { MINUTE_MS } from '../../lib/times.ts'
import { isDatabaseAway } from '../postgres/database-away.ts'
import type { Db } from '../postgres/db.ts'
import type { Ctx, JobName } from '../runtime/ctx.ts'
import { retryAfterMs } from './retry-after.ts'

/** A piece that did not fail for so long, or that is gone, is forgotten. */
const FORGET_MS = 10 * MINUTE_MS

/** So much of the time of a job at most goes into a piece that takes long to fail. */
const SHARE_MAX = 0.1

/** How often a piece failed in a row, when last, and for how long it is left out. */
type Failed = Map<number, { times: number; atMs: number; waitMs: number }>

const states = new WeakMap<Db, Map<string, Failed>>()

export type FailedPieces = {
  /** The pieces that are left out now. After a clock that was set back there are none. */
  leftOut(): number[]
  succeed(ids: number[]): void
  /**
   * Leaves pieces that were worked on together out for a time, and counts and logs their failure with these details. Throws the error if the
   * database is away, because then all pieces fail.
   */
  fail(ids: number[], error: unknown, startedMs: number, details: object): void
}

/**
 * The time until the first piece of a job that is left out now is due again; undefined if there is none. A part of a job has the name of the job
 * with one of its own: `retention.mail`.
 */
export function untilNextPieceMs({ db, clock }: Ctx, name: string): number | undefined {
  const now = clock.now().getTime()
  const ofParts = [...(states.get(db) ?? [])].filter(([part]) => part === name || part.startsWith(`${name}.`))
  const waits = ofParts.flatMap(([, failed]) =>
    [...failed.values()].filter(({ atMs, waitMs }) => atMs <= now && now < atMs + waitMs).map(({ atMs, waitMs }) => atMs + waitMs - now),
  )
  return waits.length === 0 ? undefined : Math.min(...waits)
}

/** What failed in a job of this process on a database. */
export function failedPiecesOf(ctx: Ctx, { name }: JobName): FailedPieces {
  const { db, clock, log, metrics } = ctx
  const ofJobs = states.get(db) ?? new Map<string, Failed>()
  states.set(db, ofJobs)
  const failed: Failed = ofJobs.get(name) ?? new Map()
  ofJobs.set(name, failed)
  const isWithin = (atMs: number, ms: number) => {
    const sinceMs = clock.now().getTime() - atMs
    return sinceMs >= 0 && sinceMs < ms
  }
  return {
    leftOut() {
      for (const [id, { atMs }] of failed) if (!isWithin(atMs, FORGET_MS)) failed.delete(id)
      return [...failed].filter(([, { atMs, waitMs }]) => isWithin(atMs, waitMs)).map(([id]) => id)
    },
    succeed(ids) {
      for (const id of ids) failed.delete(id)
    },
    fail(ids, error, startedMs, details) {
      if (isDatabaseAway(error)) throw error
      const tookMs = performance.now() - startedMs
      for (const id of ids) {
        const times = (failed.get(id)?.times ?? 0) + 1
        failed.set(id, {
          times,
          atMs: clock.now().getTime(),
          waitMs: Math.min(FORGET_MS, Math.max(retryAfterMs(times), tookMs / SHARE_MAX)),
        })
      }
      metrics.jobRun(name, 'failed', tookMs)
      log.error({ err: error, ...details }, 'a piece of the work of a job failed; it will be retried')
    },
  }
}
