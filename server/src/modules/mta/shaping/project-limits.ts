/** What projects set for sites: emails at the same time and by the second. Counted for this process. */
import { MINUTE_MS, SECOND_MS } from '../../../lib/times.ts'
import { takeFrom } from './rate.ts'

/** The limits of a project at a site. */
export type OwnLimits = { mails_at_once?: number; mails_per_second?: number }

/** A place of a project at a site, which `leave` gives back; or when to try again. */
export type OwnPlace = { is: 'admitted' } | { is: 'postponed'; until: Date; limit: 'project' }

export type ProjectLimiter = {
  enter(project: number, siteKey: string, limits: OwnLimits): OwnPlace
  leave(project: number, siteKey: string): void
}

type Used = { inFlight: number; filledAt: number; postponedTo: number }

const POSTPONED_MAX_MS = 10 * MINUTE_MS

/** `processes` is how many share the limits. */
export function createProjectLimiter({ now, processes }: { now(): number; processes(): number }): ProjectLimiter {
  const used = new Map<string, Used>()
  return {
    enter(project, siteKey, { mails_at_once, mails_per_second }) {
      const key = `${project} ${siteKey}`
      const one = used.get(key) ?? { inFlight: 0, filledAt: 0, postponedTo: 0 }
      used.set(key, one)
      const nowMs = now()
      const perSecond = mails_per_second === undefined ? null : mails_per_second / processes()
      const most = mails_at_once === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(mails_at_once / processes()))
      if (one.inFlight >= most) return postpone(one, nowMs, nowMs + SECOND_MS, SECOND_MS / most)
      const taken = perSecond === null ? null : takeFrom({ perSecond, burst: 1 }, one.filledAt, 1, nowMs)
      if (taken && perSecond !== null && taken.granted === 0) return postpone(one, nowMs, taken.nextAt, SECOND_MS / perSecond)
      one.filledAt = taken?.filledAt ?? 0
      one.inFlight++
      return { is: 'admitted' }
    },
    leave(project, siteKey) {
      const key = `${project} ${siteKey}`
      const one = used.get(key)
      if (!one) return
      one.inFlight--
      if (one.inFlight <= 0 && one.filledAt <= now() && one.postponedTo <= now()) used.delete(key)
    },
  }
}

/** Each is postponed a little longer than the one before, so that they do not all come back at once. */
function postpone(one: Used, nowMs: number, from: number, everyMs: number): OwnPlace {
  const until = Math.min(Math.max(from, one.postponedTo), nowMs + Math.max(POSTPONED_MAX_MS, everyMs))
  one.postponedTo = until + everyMs
  return { is: 'postponed', until: new Date(Math.ceil(until)), limit: 'project' }
}
