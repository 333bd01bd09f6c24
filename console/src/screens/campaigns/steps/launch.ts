/** When a blast starts, and what launches a campaign. Pure. */
import type { Campaign } from '../search.ts'

/** How long a launch can be undone at least. */
const UNDO_MS = 30_000

type Time = { send_at?: string | null | undefined; send_in_user_timezone?: boolean | undefined }

/** No time was chosen, or less of it is left than a launch can be undone: it has passed, or is that of a launch that was undone. */
export const startsAtLaunch = ({ send_at: at = null, send_in_user_timezone: isLocal = false }: Time, now: number): boolean =>
  at === null || (!isLocal && Date.parse(at) < now + UNDO_MS)

/** The changes that launch a campaign now. A blast starts at its time, or when the launch can no longer be undone. */
export function launchOf(type: Campaign['type'], time: Time, now: number) {
  if (type === 'trigger') return { state: 'running' as const }
  const { send_at: at = null } = time
  if (at !== null && !startsAtLaunch(time, now)) return { state: 'scheduled' as const, send_at: at }
  // An instant, also of a copy of a campaign that was sent in each user's time zone.
  return { state: 'scheduled' as const, send_at: new Date(now + UNDO_MS).toISOString(), send_in_user_timezone: false }
}
