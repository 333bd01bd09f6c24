/** The calendar of campaigns: months as weeks from Monday to Sunday, and the day of a campaign. Days are `2026-11-23`, months `2026-11`. */
import { DAY_MS, dayOf } from '../../parts/days.ts'
import type { Campaign } from './search.ts'

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/
const WEEK_DAYS = 7

/** The month in a URL. */
export const monthOf = (value: unknown): string | undefined => (typeof value === 'string' && MONTH.test(value) ? value : undefined)

/** The month that is this many months later. */
export function laterMonth(month: string, by: number): string {
  const date = new Date(`${month}-01T00:00:00Z`)
  date.setUTCMonth(date.getUTCMonth() + by)
  return date.toISOString().slice(0, 7)
}

/** The weeks of a month. A week that begins before the month or ends after it has the days of its neighbours. */
export function weeksOf(month: string): string[][] {
  const first = Date.parse(`${month}-01T00:00:00Z`)
  const end = Date.parse(`${laterMonth(month, 1)}-01T00:00:00Z`)
  const monday = first - ((new Date(first).getUTCDay() + 6) % WEEK_DAYS) * DAY_MS
  const weeks: string[][] = []
  for (let week = monday; week < end; week += WEEK_DAYS * DAY_MS)
    weeks.push(Array.from({ length: WEEK_DAYS }, (_, day) => dayOf(week + day * DAY_MS)))
  return weeks
}

type Timed = Pick<Campaign, 'state' | 'send_at' | 'started_at'>
/** When a campaign begins or began. `isLocal`: at this time in the time zone of each user. */
export type Slot = { day: string; time: string; isLocal: boolean }

/** The day and time of an instant in a time zone. */
export function localOf(at: string, timeZone: string): { day: string; time: string } {
  const [day = '', time = ''] = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
    .format(new Date(at))
    .split(' ')
  return { day, time }
}

/** Where a campaign is in the calendar of a time zone; null for those that have not begun and have no time. */
export function slotOf({ state, send_at, started_at }: Timed, timeZone: string): Slot | null {
  const at = (state === 'draft' || state === 'scheduled' ? send_at : (started_at ?? send_at)) ?? null
  if (at === null) return null
  // A local time has no zone.
  if (!at.endsWith('Z')) return { day: at.slice(0, 10), time: at.slice(11, 16), isLocal: true }
  return { ...localOf(at, timeZone), isLocal: false }
}

export type Entry<C> = Slot & { campaign: C }

/** The campaigns of each day, the earliest first. */
export function byDay<C extends Timed>(campaigns: C[], timeZone: string): Map<string, Entry<C>[]> {
  const entries = campaigns.flatMap((campaign) => {
    const slot = slotOf(campaign, timeZone)
    return slot ? [{ campaign, ...slot }] : []
  })
  return Map.groupBy(
    entries.toSorted((a, b) => a.time.localeCompare(b.time)),
    ({ day }) => day,
  )
}
