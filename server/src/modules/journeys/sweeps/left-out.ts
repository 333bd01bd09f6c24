/** The sweeps that this process leaves out for a time, so that not each page of the others has to find out that they rest or fail. */
import type { Db } from '../../../infra/postgres/db.ts'
import { retryAfterMs } from '../../../infra/queue/jobs.ts'
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../../lib/ids.ts'
import { MINUTE_MS, SECOND_MS } from '../../../lib/times.ts'

export const REST_MS = SECOND_MS
/** A sweep that did not fail for so long, or that is gone, is forgotten. */
const FORGET_MS = 10 * MINUTE_MS

type Failed = { times: number; atMs: number }
/** Since when projects rest, and which sweeps failed how often in a row and when. */
type State = { resting: Map<ProjectId, number>; failed: Map<number, Failed> }

const states = new WeakMap<Db, State>()

export type LeftOut = {
  /** What is left out now. After a clock that was set back it is nothing. */
  now(): { projects: ProjectId[]; sweeps: number[] }
  rest(id: ProjectId): void
  isResting(id: ProjectId): boolean
  fail(id: number): void
  succeed(id: number): void
}

/** What this process leaves out on a database. */
export function leftOutOf({ db, clock }: Ctx): LeftOut {
  const state: State = states.get(db) ?? { resting: new Map(), failed: new Map() }
  states.set(db, state)
  const { resting, failed } = state
  const isWithin = (atMs: number, ms: number) => {
    const sinceMs = clock.now().getTime() - atMs
    return sinceMs >= 0 && sinceMs < ms
  }
  return {
    now() {
      for (const [id, atMs] of resting) if (!isWithin(atMs, REST_MS)) resting.delete(id)
      for (const [id, { atMs }] of failed) if (!isWithin(atMs, FORGET_MS)) failed.delete(id)
      const waiting = [...failed].filter(([, { atMs, times }]) => isWithin(atMs, retryAfterMs(times)))
      return { projects: [...resting.keys()], sweeps: waiting.map(([id]) => id) }
    },
    rest: (id) => void resting.set(id, clock.now().getTime()),
    isResting: (id) => resting.has(id),
    fail: (id) => void failed.set(id, { times: (failed.get(id)?.times ?? 0) + 1, atMs: clock.now().getTime() }),
    succeed: (id) => void failed.delete(id),
  }
}
