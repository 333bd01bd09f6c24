/** When the users of a schedule enter. Pure. */
import { DAY_MS, HOUR_MS } from '../../../lib/times.ts'
import { compileSchedule, nextOccurrence, type Occurrence, occurrencesIn, type Schedule } from '../schedule.ts'
import { instantOfLocal } from '../times.ts'
import type { ScheduleParams } from './kinds.ts'

/** No local time is further from UTC. */
const OFFSET_MAX_MS = 15 * HOUR_MS
/** What an outage delays by more than this is left out. */
const MISSED_AFTER_MS = DAY_MS

type Timing = Pick<ScheduleParams, 'schedule' | 'zone' | 'since'>

const compiled = ({ schedule, since }: Timing, zone: string): Schedule => compileSchedule(schedule, new Date(since), zone)

/** Every time zone, and that of the project. Other names of a zone have the same instants. */
const zonesOf = (zone: string): string[] => ['UTC', zone, ...Intl.supportedValuesOf('timeZone')]

/** The first instant at which users enter; null if there is none. */
export const firstInstant = (timing: Timing, now: Date, projectZone: string): Date | null =>
  nextInstant(timing, new Date(now.getTime() - 1), projectZone)

/** The next instant after another one at which an occurrence comes: in the zone of the project, or in any zone. */
export function nextInstant(timing: Timing, after: Date, projectZone: string): Date | null {
  const schedule = compiled(timing, projectZone)
  if (timing.zone === 'project') return nextOccurrence(schedule, after, projectZone)?.at ?? null
  const until = new Date(after.getTime() + OFFSET_MAX_MS)
  const near = occurrencesIn(schedule, new Date(after.getTime() - OFFSET_MAX_MS), until, 'UTC')
  const beyond = nextOccurrence(schedule, until, 'UTC')
  const locals = [...near, ...(beyond ? [beyond] : [])].map(({ local }) => local)
  const zones = zonesOf(projectZone)
  let next = Number.POSITIVE_INFINITY
  for (const local of locals) {
    for (const zone of zones) {
      const at = instantOfLocal(local, zone).getTime()
      if (at > after.getTime() && at < next) next = at
    }
  }
  return Number.isFinite(next) ? new Date(next) : null
}

/** What comes at an instant in a zone. */
export type Due = { is: 'run'; local: string } | { is: 'missed' } | { is: 'nothing' }

/**
 * Looks up what comes at an instant. After an outage only the latest occurrence of a zone counts, unless it is more than 24 hours old.
 * Zones are remembered, because users are many and zones are few.
 */
export function dueAt(timing: Timing, at: Date, now: Date, projectZone: string): (zone: string) => Due {
  const schedule = compiled(timing, projectZone)
  const known = new Map<string, Due>()
  const find = (zone: string): Due => {
    const [occurrence] = occurrencesIn(schedule, new Date(at.getTime() - 1), at, zone)
    if (!occurrence) return { is: 'nothing' }
    return isMissed(schedule, occurrence, now, zone) ? { is: 'missed' } : { is: 'run', local: occurrence.local }
  }
  return (zone) => {
    const due = known.get(zone) ?? find(zone)
    known.set(zone, due)
    return due
  }
}

function isMissed(schedule: Schedule, { at }: Occurrence, now: Date, zone: string): boolean {
  if (at.getTime() < now.getTime() - MISSED_AFTER_MS) return true
  const next = nextOccurrence(schedule, at, zone)
  return next !== null && next.at <= now
}
