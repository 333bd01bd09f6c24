/** The occurrences of schedules in a window. Pure. */
import type { JourneyId, ListId } from '../../../lib/ids.ts'
import { DAY_MS } from '../../../lib/times.ts'
import type { Graph } from '../engine/graph.ts'
import { causes } from '../engine/ids.ts'
import { compileSchedule, localsThrough, type Occurrence, occurrencesAmong } from '../schedule.ts'
import type { SimulatedItem, SimulatedUser } from '../simulation/user.ts'
import { instantOfLocal, localOf } from '../times.ts'

type Window = { since: Date; until: Date }

/** When the schedules of the live journey began, by the key of their step and the schedule. */
export type Starts = ReadonlyMap<string, Date>

export const startKey = (step: string, schedule: string): string => `${step} ${schedule}`

/** A scheduled entrance. Its occurrences are those of the project's time zone, unless users have their own. */
export type Scheduled = { step: string; list: ListId; ofUser: boolean; in(zone: string): Occurrence[] }

/** A schedule that the live journey does not have, and that names no start, begins with the window. */
export async function scheduledOf({ entrances }: Graph, { since, until }: Window, zone: string, starts: Starts): Promise<Scheduled[]> {
  const found: Scheduled[] = []
  for (const { step, settings } of entrances) {
    if (settings.trigger !== 'schedule' || settings.schedule === undefined || settings.list_id === undefined) continue
    const begun = starts.get(startKey(step, settings.schedule)) ?? since
    const schedule = await compileSchedule(settings.schedule, startBy(since, begun, settings.schedule, zone), zone)
    const locals = await localsThrough(schedule, since, until)
    const known = new Map<string, Occurrence[]>()
    const inZone = (name: string) => {
      const occurrences = known.get(name) ?? occurrencesAmong(schedule, locals, since, until, name)
      known.set(name, occurrences)
      return occurrences
    }
    found.push({ step, list: settings.list_id as ListId, ofUser: settings.zone === 'user', in: inZone })
  }
  return found
}

const WEEK_DAYS = 7
/** After four years the day of the month is the same, also of 29 February. */
const FOUR_YEARS_DAYS = 1461

/**
 * The start of a schedule, moved back in the local time of a zone if it is within the window, because all of the window is simulated. The time
 * of day stays the same, and so does the weekday, or the day of the month if the rule takes that from its start.
 */
function startBy(since: Date, start: Date, schedule: string, zone: string): Date {
  if (start <= since) return start
  const pieceMs = (/FREQ=(?:MONTHLY|YEARLY)/i.test(schedule) ? FOUR_YEARS_DAYS : WEEK_DAYS) * DAY_MS
  const pieces = Math.ceil((start.getTime() - since.getTime() + DAY_MS) / pieceMs)
  const local = new Date(Date.parse(`${localOf(start, zone)}Z`) - pieces * pieceMs)
  return instantOfLocal(local.toISOString().slice(0, LOCAL_LENGTH), zone)
}

const LOCAL_LENGTH = 'yyyy-mm-ddThh:mm'.length

/** The items of a user with the occurrences at which the user may enter, if they are in the list then. */
export function withScheduled(
  items: SimulatedItem[],
  scheduled: Scheduled[],
  { user }: SimulatedUser,
  journeyId: JourneyId,
  zone: string,
): SimulatedItem[] {
  const entries = scheduled.flatMap(({ step, list, ofUser, in: inZone }) =>
    inZone((ofUser ? user.timezone : null) ?? zone).map(({ local, at }): SimulatedItem => {
      const about = { journey_id: journeyId, user_id: user.id, entrance: step, cause: causes.schedule(step, local) }
      return { at, onlyIn: list, items: [{ do: 'enter', ...about }] }
    }),
  )
  return entries.length === 0 ? items : [...items, ...entries].sort((a, b) => a.at.getTime() - b.at.getTime())
}
