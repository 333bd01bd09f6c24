/** When a time that clocks show comes, wherever they hang. Pure. */
import { Temporal } from 'temporal-polyfill'
import { isTimeZone } from '../../../lib/time-zones.ts'

const HOUR_MS = 3_600_000
/** No clock is further ahead of UTC. */
const AHEAD_MAX_MS = 14 * HOUR_MS

/** When the first clock in the world shows a time; `wallClock` is one without an offset. */
export const earliestAnywhere = (wallClock: string): Date => new Date(new Date(`${wallClock}Z`).getTime() - AHEAD_MAX_MS)

/**
 * When the clocks of a time zone show `wallClock`. A time that a zone leaves out when its clocks are put forward comes as much
 * later as they are put forward; of a time that comes twice the first counts. Whoever has no zone that is known goes by `fallback`.
 * A zone is asked once: an audience of millions lives in some hundreds.
 */
export function sendTimes(wallClock: string, fallback: string): (zone: string | null) => Date {
  const local = Temporal.PlainDateTime.from(wallClock)
  const known = new Map<string | null, Date>()
  const timeIn = (zone: string) => new Date(local.toZonedDateTime(zone, { disambiguation: 'compatible' }).epochMilliseconds)
  return (zone) => {
    const cached = known.get(zone)
    if (cached) return cached
    const time = timeIn(zone !== null && isTimeZone(zone) ? zone : fallback)
    known.set(zone, time)
    return time
  }
}
