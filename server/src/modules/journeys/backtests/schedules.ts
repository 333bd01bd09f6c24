/** The occurrences of schedules in a window. Pure. */
import { Temporal } from 'temporal-polyfill'
import type { JourneyId, ListId } from '../../../lib/ids.ts'
import { usableTimeZone } from '../../../lib/time-zones.ts'
import type { Graph } from '../engine/graph.ts'
import { causes } from '../engine/ids.ts'
import { compileSchedule, localsThrough, type Occurrence, occurrencesThrough } from '../schedule.ts'
import type { SimulatedItem, SimulatedUser } from '../simulation/user.ts'
import { instantOfLocal, localOf } from '../times.ts'

type Window = { since: Date; until: Date }

/** When the schedules of the live journey began, by the key of their step and the schedule. */
export type Starts = ReadonlyMap<string, Date>

export const startKey = (step: string, schedule: string): string => `${step} ${schedule}`

/** A scheduled entrance. Its occurrences are those of the project's time zone, unless users have their own. */
export type Scheduled = { step: string; list: ListId; ofUser: boolean; in(zone: string): Promise<Occurrence[]> }

/** A schedule that the live journey does not have, and that names no start, begins with the window. */
export async function scheduledOf({ entrances }: Graph, { since, until }: Window, zone: string, starts: Starts): Promise<Scheduled[]> {
  const found: Scheduled[] = []
  for (const { step, settings } of entrances) {
    if (settings.trigger !== 'schedule' || settings.schedule === undefined || settings.list_id === undefined) continue
    const begun = starts.get(startKey(step, settings.schedule)) ?? since
    const schedule = await compileSchedule(settings.schedule, startBy(since, begun, settings.schedule, zone), zone)
    const locals = await localsThrough(schedule, since, until)
    const known = new Map<string, Promise<Occurrence[]>>()
    const inZone = (name: string) => {
      const occurrences = known.get(name) ?? occurrencesThrough(schedule, locals, since, until, name)
      known.set(name, occurrences)
      return occurrences
    }
    found.push({ step, list: settings.list_id as ListId, ofUser: settings.zone === 'user', in: inZone })
  }
  return found
}

const DAY_HOURS = 24
const WEEK_HOURS = 7 * DAY_HOURS
const YEAR_MONTHS = 12
/** After 28 years, dates have the same days of the week, also 29 February. */
const SAME_DATES_MONTHS = 28 * YEAR_MONTHS
/** A rule that would be moved further back comes so rarely that it has nothing in the window before its start. */
const EARLIEST_YEAR = 1600

/**
 * The start of a schedule, moved back in the local time of a zone if it is within the window, because all of the window is simulated. It is moved
 * by whole periods of the rule. With `COUNT` it stays, because the live schedule ends after so many.
 */
function startBy(since: Date, start: Date, schedule: string, zone: string): Date {
  if (start <= since || /COUNT=/i.test(schedule)) return start
  const { unit, length } = periodOf(schedule)
  const local = Temporal.PlainDateTime.from(localOf(start, zone))
  // A day earlier, because users may have other time zones.
  const earliest = Temporal.PlainDateTime.from(localOf(since, zone)).subtract({ days: 1 })
  const periods = Math.ceil((earliest.until(local, { largestUnit: unit })[unit] + 1) / length)
  const moved = local.subtract({ [unit]: periods * length })
  return moved.year < EARLIEST_YEAR ? start : instantOfLocal(moved.toString(), zone)
}

/** After how long a rule is the same again: its interval, and for months and years also the date and the day of the week that it may take from its start. */
function periodOf(schedule: string): { unit: 'hours' | 'months'; length: number } {
  const interval = Number(/INTERVAL=(\d+)/i.exec(schedule)?.[1] ?? 1)
  switch (/FREQ=(\w+)/i.exec(schedule)?.[1]?.toUpperCase()) {
    case 'HOURLY':
      return { unit: 'hours', length: interval }
    case 'DAILY':
      return { unit: 'hours', length: interval * DAY_HOURS }
    case 'WEEKLY':
      return { unit: 'hours', length: interval * WEEK_HOURS }
    case 'MONTHLY':
      return { unit: 'months', length: leastCommonMultiple(interval, SAME_DATES_MONTHS) }
    default:
      return { unit: 'months', length: leastCommonMultiple(interval * YEAR_MONTHS, SAME_DATES_MONTHS) }
  }
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b))
const leastCommonMultiple = (a: number, b: number): number => (a / greatestCommonDivisor(a, b)) * b

/** The items of a user with the occurrences at which the user may enter, if they are in the list then. */
export async function withScheduled(
  items: SimulatedItem[],
  scheduled: Scheduled[],
  { user }: SimulatedUser,
  journeyId: JourneyId,
  zone: string,
): Promise<SimulatedItem[]> {
  const entries: SimulatedItem[] = []
  for (const { step, list, ofUser, in: inZone } of scheduled) {
    const about = { journey_id: journeyId, user_id: user.id, entrance: step }
    for (const { local, at } of await inZone(usableTimeZone(ofUser ? user.timezone : null, zone)))
      entries.push({ at, onlyIn: list, items: [{ do: 'enter', ...about, cause: causes.schedule(step, local) }] })
  }
  return entries.length === 0 ? items : [...items, ...entries].sort((a, b) => a.at.getTime() - b.at.getTime())
}
