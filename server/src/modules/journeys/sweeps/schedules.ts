/** When the users of a schedule enter. Pure. */
import { LRUCache } from 'lru-cache'
import { DAY_MS, HOUR_MS } from '../../../lib/times.ts'
import { compileSchedule, localsIn, nextOccurrence, occurrencesAmong, occurrencesIn, type Schedule } from '../schedule.ts'
import { otherWork } from '../schedule-walk.ts'
import { instantOfLocal } from '../times.ts'
import type { ScheduleParams } from './kinds.ts'

/** No local time is further from UTC. */
const OFFSET_MAX_MS = 15 * HOUR_MS
/** What an outage delays by more than this is left out. */
const MISSED_AFTER_MS = DAY_MS

type Timing = Pick<ScheduleParams, 'schedule' | 'zone' | 'since'>

const compiled = ({ schedule, since }: Timing, zone: string): Promise<Schedule> => compileSchedule(schedule, new Date(since), zone)

/** Every time zone, and that of the project. Other names of a zone have the same instants. */
const zonesOf = (zone: string): string[] => ['UTC', zone, ...Intl.supportedValuesOf('timeZone')]

/** The first instant at which users enter; null if there is none. */
export const firstInstant = (timing: Timing, now: Date, projectZone: string): Promise<Date | null> =>
  nextInstant(timing, new Date(now.getTime() - 1), projectZone)

/** The next instant after another one at which the schedule has an occurrence: in the zone of the project, or in any zone. */
export async function nextInstant(timing: Timing, after: Date, projectZone: string): Promise<Date | null> {
  const schedule = await compiled(timing, projectZone)
  if (timing.zone === 'project') return (await nextOccurrence(schedule, after, projectZone))?.at ?? null
  const until = new Date(after.getTime() + OFFSET_MAX_MS)
  const beyond = await nextOccurrence(schedule, until, 'UTC')
  const locals = [...localsNear(schedule, after), ...(beyond ? [beyond.local] : [])]
  const instants = (await instantsOfAll(locals, projectZone)).map(({ atMs }) => atMs)
  const next = Math.min(...instants.filter((atMs) => atMs > after.getTime()))
  return Number.isFinite(next) ? new Date(next) : null
}

/** The local times of a schedule that come at an instant in some zone. */
const localsNear = (schedule: Schedule, at: Date): string[] =>
  occurrencesIn(schedule, new Date(at.getTime() - OFFSET_MAX_MS), new Date(at.getTime() + OFFSET_MAX_MS), 'UTC').map(({ local }) => local)

type InZones = { atMs: number; zones: string[] }
const LOCALS_KEPT = 200
/** Never outdated while the process runs, because its rules of time zones do not change. */
const instantsOfLocals = new LRUCache<string, InZones[]>({ max: LOCALS_KEPT })

/** The instants at which local times come, each with its zones. */
async function instantsOfAll(locals: readonly string[], projectZone: string): Promise<InZones[]> {
  const found: InZones[] = []
  for (const local of locals) found.push(...(await instantsOf(local, projectZone)))
  return found
}

/** Other work runs before the instants in hundreds of zones are looked up. */
async function instantsOf(local: string, projectZone: string): Promise<InZones[]> {
  const key = `${local} ${projectZone}`
  const known = instantsOfLocals.get(key)
  if (known) return known
  await otherWork()
  const byInstant = Map.groupBy(zonesOf(projectZone), (zone) => instantOfLocal(local, zone).getTime())
  const found = [...byInstant].map(([atMs, zones]) => ({ atMs, zones }))
  instantsOfLocals.set(key, found)
  return found
}

type Zones = { wanted: string[]; isProjectWanted: boolean; known: string[] }

/** The time zones in which a schedule has an occurrence at an instant, and all known time zones. */
export async function zonesAt(timing: Timing, at: Date, projectZone: string): Promise<Zones> {
  const locals = localsNear(await compiled(timing, projectZone), at)
  const instants = await instantsOfAll(locals, projectZone)
  const wanted = instants.flatMap(({ atMs, zones }) => (atMs === at.getTime() ? zones : []))
  return { wanted: [...new Set(wanted)], isProjectWanted: wanted.includes(projectZone), known: zonesOf(projectZone) }
}

/** What comes at an instant in a zone. */
export type Due = { is: 'run'; local: string } | { is: 'missed' } | { is: 'nothing' }

/**
 * A function that tells what is due at an instant in a time zone. After an outage only the latest occurrence of a zone counts, unless it is
 * more than 24 hours old. The times are searched once, and zones are remembered, because users are many and zones are few.
 */
export async function dueAt(timing: Timing, at: Date, now: Date, projectZone: string): Promise<(zone: string) => Due> {
  const schedule = await compiled(timing, projectZone)
  const isOld = now.getTime() > at.getTime() + MISSED_AFTER_MS
  const to = isOld || now < at ? at : now
  const locals = localsIn(schedule, at, to)
  const known = new Map<string, Due>()
  const find = (zone: string): Due => {
    const [own, next] = occurrencesAmong(schedule, locals, new Date(at.getTime() - 1), to, zone)
    if (own?.at.getTime() !== at.getTime()) return { is: 'nothing' }
    return isOld || next !== undefined ? { is: 'missed' } : { is: 'run', local: own.local }
  }
  return (zone) => {
    const due = known.get(zone) ?? find(zone)
    known.set(zone, due)
    return due
  }
}
