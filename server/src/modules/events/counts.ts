/** Counts the events of a batch by day and by name. Pure. */
import type { UserId } from '../../lib/ids.ts'
import { DAY_MS } from '../../lib/times.ts'

/** The part of a stored event that is counted. */
export type CountedEvent = { userId: UserId; event: { name: string; createdAt: Date } }

export type DayCount = { name: string; day: string; events: number }

/** `recent_users` and `recent_times` locate the events that were stored last, newest first. The entries at an index belong together. */
export type NameCount = {
  name: string
  events: number
  first_at: Date
  last_at: Date
  recent_users: UserId[]
  recent_times: Date[]
}

/** The number of events of each name that can be located. */
export const RECENT_KEPT = 50

/** The number of events by name and by day of `created_at` in UTC. */
export function countDays(events: CountedEvent[]): DayCount[] {
  const days = Map.groupBy(events, ({ event }) => Math.floor(event.createdAt.getTime() / DAY_MS))
  return [...days].flatMap(([day, ofDay]) =>
    [...Map.groupBy(ofDay, ({ event }) => event.name)].map(([name, of]) => ({
      day: dayOf(new Date(day * DAY_MS)),
      name,
      events: of.length,
    })),
  )
}

/** The number of events by name. */
export function countNames(events: CountedEvent[]): NameCount[] {
  return [...Map.groupBy(events, ({ event }) => event.name)].map(([name, of]) => {
    const times = of.map(({ event }) => event.createdAt.getTime())
    const latest = of.slice(-RECENT_KEPT).reverse()
    return {
      name,
      events: of.length,
      first_at: new Date(times.reduce((a, b) => Math.min(a, b))),
      last_at: new Date(times.reduce((a, b) => Math.max(a, b))),
      recent_users: latest.map(({ userId }) => userId),
      recent_times: latest.map(({ event }) => event.createdAt),
    }
  })
}

const DAY_LENGTH = '2026-11-23'.length

/** The day of an instant in UTC. */
export const dayOf = (instant: Date): string => instant.toISOString().slice(0, DAY_LENGTH)
