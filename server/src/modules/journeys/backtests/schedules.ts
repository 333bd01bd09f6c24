/** The occurrences of schedules in a window. Pure. */
import type { JourneyId, ListId } from '../../../lib/ids.ts'
import type { Graph } from '../engine/graph.ts'
import { causes } from '../engine/ids.ts'
import { compileSchedule, localsThrough, type Occurrence, occurrencesAmong } from '../schedule.ts'
import type { SimulatedItem, SimulatedUser } from '../simulation/user.ts'

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
    const schedule = await compileSchedule(settings.schedule, starts.get(startKey(step, settings.schedule)) ?? since, zone)
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
