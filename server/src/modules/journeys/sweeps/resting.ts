/** The projects whose sweeps this process leaves out for a time, so that not each page of the others has to find out that they rest. */
import type { Db } from '../../../infra/postgres/db.ts'
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../../lib/ids.ts'
import { SECOND_MS } from '../../../lib/times.ts'

export const REST_MS = SECOND_MS

/** Since when projects rest. */
const states = new WeakMap<Db, Map<ProjectId, number>>()

export type RestingProjects = {
  /** The projects that rest now. After a clock that was set back there are none. */
  now(): ProjectId[]
  add(id: ProjectId): void
  has(id: ProjectId): boolean
}

/** The projects that rest in this process on a database. */
export function restingProjectsOf({ db, clock }: Ctx): RestingProjects {
  const since = states.get(db) ?? new Map<ProjectId, number>()
  states.set(db, since)
  return {
    now() {
      for (const [id, atMs] of since) {
        const restedMs = clock.now().getTime() - atMs
        if (restedMs < 0 || restedMs >= REST_MS) since.delete(id)
      }
      return [...since.keys()]
    },
    add: (id) => void since.set(id, clock.now().getTime()),
    has: (id) => since.has(id),
  }
}
