/** Converts a local time to instants in time zones. Pure. */
import { Temporal } from 'temporal-polyfill'
import { usableTimeZone } from '../../../lib/time-zones.ts'
import { HOUR_MS } from '../../../lib/times.ts'

/** No time zone is further ahead of UTC. */
const AHEAD_MAX_MS = 14 * HOUR_MS

/** The instant at which a local time comes in the first time zone. `wallClock` has no offset. */
export const earliestAnywhere = (wallClock: string): Date => new Date(new Date(`${wallClock}Z`).getTime() - AHEAD_MAX_MS)

/**
 * The instant of `wallClock` in a time zone. A time skipped by daylight saving is moved forward by the length of the gap; of a repeated
 * time the first occurrence counts. `fallback` replaces a time zone that is missing or unknown. Results are cached by zone: an audience of
 * millions lives in a few hundred zones.
 */
export function sendTimes(wallClock: string, fallback: string): (zone: string | null) => Date {
  const local = Temporal.PlainDateTime.from(wallClock)
  const known = new Map<string | null, Date>()
  const timeIn = (zone: string) => new Date(local.toZonedDateTime(zone, { disambiguation: 'compatible' }).epochMilliseconds)
  return (zone) => {
    const cached = known.get(zone)
    if (cached) return cached
    const time = timeIn(usableTimeZone(zone, fallback))
    known.set(zone, time)
    return time
  }
}
