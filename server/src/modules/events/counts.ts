/** Events of a batch, counted by day and by name. Pure. */
import type { UserId } from '../../lib/ids.ts'

/** What is counted of an event that was stored. */
export type CountedEvent = { userId: UserId; event: { name: string; createdAt: Date } }

export type DayCount = { name: string; day: string; events: number }

/** `recent_*` say where the latest to arrive are, latest first; the two run side by side. */
export type NameCount = {
  name: string
  events: number
  first_at: Date
  last_at: Date
  recent_users: UserId[]
  recent_times: Date[]
}

/** For how many events of each name it is known where they are. */
export const RECENT_KEPT = 50

/** How many events of each name fell on each day in UTC, whenever they came. */
export function countDays(facts: CountedEvent[]): DayCount[] {
  const groups = Map.groupBy(facts, ({ event }) => `${dayOf(event.createdAt)} ${event.name}`)
  return [...groups].map(([group, facts]) => ({ day: group.slice(0, DAY_LENGTH), name: group.slice(DAY_LENGTH + 1), events: facts.length }))
}

/** The same for all days together. */
export function countNames(facts: CountedEvent[]): NameCount[] {
  return [...Map.groupBy(facts, ({ event }) => event.name)].map(([name, facts]) => {
    const times = facts.map(({ event }) => event.createdAt.getTime())
    const latest = facts.slice(-RECENT_KEPT).reverse()
    return {
      name,
      events: facts.length,
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
