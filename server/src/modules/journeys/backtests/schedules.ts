/** The occurrences of schedules in a window. Pure. */
import type { JourneyId, ListId } from '../../../lib/ids.ts'
import type { Graph } from '../engine/graph.ts'
import { causes } from '../engine/ids.ts'
import { compileSchedule, occurrencesIn, type Schedule } from '../schedule.ts'
import type { SimulatedItem, SimulatedUser } from '../simulation/user.ts'

type Window = { since: Date; until: Date }

/** A scheduled entrance. Its occurrences are those of the project's time zone, unless users have their own. */
export type Scheduled = { step: string; list: ListId; ofUser: boolean; in(zone: string): { local: string; at: Date }[] }

export function scheduledOf({ entrances }: Graph, { since, until }: Window, zone: string): Scheduled[] {
  return entrances.flatMap(({ step, settings }): Scheduled[] => {
    if (settings.trigger !== 'schedule' || settings.schedule === undefined || settings.list_id === undefined) return []
    const schedule: Schedule = compileSchedule(settings.schedule, since, zone)
    const known = new Map<string, { local: string; at: Date }[]>()
    const inZone = (name: string) => {
      const found = known.get(name) ?? occurrencesIn(schedule, since, until, name)
      known.set(name, found)
      return found
    }
    return [{ step, list: settings.list_id as ListId, ofUser: settings.zone === 'user', in: inZone }]
  })
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
