/** When a blast starts, and what launches a campaign. Pure. */
import type { Campaign } from '../search.ts'

/** How long a launch can be undone at least. */
const UNDO_MS = 30_000

const HOUR_MS = 3_600_000

/** How many hours the clocks of the first and of the last time zone are ahead of UTC. */
const ZONES_H = { first: 14, last: -12 }

type Time = { send_at?: string | null | undefined; send_in_user_timezone?: boolean | undefined }

/** A draft with another time. In each user’s time zone, users get it at different times, so that no winner can be chosen. */
export const atTime = <D extends { winner?: unknown }>(draft: D, time: { send_at: string | null; send_in_user_timezone: boolean }) => ({
  ...draft,
  ...time,
  ...(time.send_in_user_timezone && Boolean(draft.winner) && { winner: null }),
})

/** In which time zones the time of a blast has passed. An instant passes in all of them at once. */
export function passedIn({ send_at: at = null, send_in_user_timezone: isLocal = false }: Time, now: number): 'none' | 'some' | 'all' {
  if (at === null) return 'none'
  if (!isLocal) return Date.parse(at) < now ? 'all' : 'none'
  const inUtc = Date.parse(`${at}Z`)
  if (inUtc - ZONES_H.last * HOUR_MS < now) return 'all'
  return inUtc - ZONES_H.first * HOUR_MS < now ? 'some' : 'none'
}

/** No time was chosen, or less of it is left than a launch can be undone: it has passed, or is that of a launch that was undone. */
export const startsAtLaunch = (time: Time, now: number): boolean =>
  (time.send_at ?? null) === null || passedIn(time, now + UNDO_MS) === 'all'

/** The changes that launch a campaign now. A blast starts at its time, or when the launch can no longer be undone. */
export function launchOf(type: Campaign['type'], time: Time, now: number) {
  if (type === 'trigger') return { state: 'running' as const }
  const { send_at: at = null } = time
  if (at !== null && !startsAtLaunch(time, now)) return { state: 'scheduled' as const, send_at: at }
  // An instant, also of a copy of a campaign that was sent in each user's time zone.
  return { state: 'scheduled' as const, send_at: new Date(now + UNDO_MS).toISOString(), send_in_user_timezone: false }
}
