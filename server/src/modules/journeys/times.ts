/** When a wait is over: after a duration, at a time of day, on a date, in a time zone. Pure. */
import { Temporal } from 'temporal-polyfill'
import { DAY_MS, HOUR_MS, isDate, MINUTE_MS, parseDeclaredDate } from '../../lib/times.ts'

/** In the order of RFC 5545, so that the index is the day of the week of Temporal minus 1. */
export const WEEKDAYS = ['mo', 'tu', 'we', 'th', 'fr', 'sa', 'su'] as const
export type Weekday = (typeof WEEKDAYS)[number]

const YEARS_MAX = 10
const WEEK = 7

type Duration = { days?: number; hours?: number; minutes?: number }

/** A time skipped by daylight saving is moved forward by the length of the gap; of a repeated time the first occurrence counts. */
const instantOf = (local: Temporal.PlainDateTime, zone: string): number =>
  local.toZonedDateTime(zone, { disambiguation: 'compatible' }).epochMilliseconds

const localAt = (instant: Date, zone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(zone)

/** A duration in milliseconds. A day is 24 hours. */
export const durationOf = ({ days = 0, hours = 0, minutes = 0 }: Duration): number => days * DAY_MS + hours * HOUR_MS + minutes * MINUTE_MS

type AtTime = { time: string; days?: number; weekdays?: readonly Weekday[]; after?: Date | null }

const KNOWN_MAX = 2000

// Time zones take some 100 µs, and thousands of users wait for the same time. Between `from` and `at` there is no other instant.
const known = new Map<string, { from: number; at: number }>()

/**
 * The next instant of a time of day such as `09:30`: not before `from`, on or after the calendar day that is `days` later, on one of the
 * weekdays. After `after`, if that is given.
 */
export function atTimeOfDay(from: Date, { time, days = 0, weekdays = WEEKDAYS, after = null }: AtTime, zone: string): Date {
  const earliest = Math.max(from.getTime(), after === null ? from.getTime() : after.getTime() + 1)
  if (days > 0) return new Date(nextTime(from, earliest, { time, days, weekdays }, zone))
  const key = `${zone} ${time} ${weekdays.join()}`
  const found = known.get(key)
  if (found && found.from <= earliest && earliest <= found.at) return new Date(found.at)
  const at = nextTime(from, earliest, { time, days, weekdays }, zone)
  if (known.size >= KNOWN_MAX) known.clear()
  known.set(key, { from: earliest, at })
  return new Date(at)
}

/** The first allowed instant that is not before `earliest`. */
function nextTime(from: Date, earliest: number, { time, days, weekdays }: Required<Omit<AtTime, 'after'>>, zone: string): number {
  const clock = Temporal.PlainTime.from(time)
  const first = localAt(from, zone).toPlainDate().add({ days })
  // A zone can skip a whole day, so that one more week may be needed.
  for (let day = 0; day < 2 * WEEK; day++) {
    const date = first.add({ days: day })
    if (!weekdays.includes(WEEKDAYS[date.dayOfWeek - 1] as Weekday)) continue
    const at = instantOf(date.toPlainDateTime(clock), zone)
    if (at >= earliest) return at
  }
  throw new Error('A time of day has no next instant.')
}

type AtDate = Duration & { time?: string; direction?: 'before' | 'after' }

/**
 * The instant of a date with an offset: days of the calendar, then the time of day, then hours and minutes. `time` replaces the time of the
 * date; otherwise a date without a time is at midnight. A time without an offset is local. Null if the text is not a date.
 */
export function atDate(text: string, { days = 0, hours = 0, minutes = 0, time, direction = 'after' }: AtDate, zone: string): Date | null {
  const date = readDate(text.trim(), zone)
  if (date === null) return null
  const sign = direction === 'after' ? 1 : -1
  const offsetMs = sign * durationOf({ hours, minutes })
  // The instant itself, because its local time can be one that comes twice.
  if (date.instant !== null && days === 0 && time === undefined) return new Date(date.instant.getTime() + offsetMs)
  const day = date.local.add({ days: sign * days })
  const local = time === undefined ? day : day.withPlainTime(Temporal.PlainTime.from(time))
  return new Date(instantOf(local, zone) + offsetMs)
}

function readDate(text: string, zone: string): { local: Temporal.PlainDateTime; instant: Date | null } | null {
  const isLocal = isDate(text) && !OFFSET.test(text)
  if (isLocal) return { local: Temporal.PlainDateTime.from(text), instant: null }
  const instant = parseDeclaredDate(text)
  return instant && { local: localAt(instant, zone).toPlainDateTime(), instant }
}

const OFFSET = /(?:Z|[+-]\d\d:\d\d)$/

/** An instant, at most ten years after `from`. */
export function clamped(at: Date, from: Date): { at: Date; isClamped: boolean } {
  const last = new Date(from)
  last.setUTCFullYear(last.getUTCFullYear() + YEARS_MAX)
  return at.getTime() <= last.getTime() ? { at, isClamped: false } : { at: last, isClamped: true }
}

/** A local time such as `2026-11-23T09:00` as an instant. */
export const instantOfLocal = (local: string, zone: string): Date => new Date(instantOf(Temporal.PlainDateTime.from(local), zone))

/** The local time of an instant, to the minute, such as `2026-11-23T09:00`. */
export const localOf = (instant: Date, zone: string): string =>
  localAt(instant, zone).toPlainDateTime().toString({ smallestUnit: 'minute' })
