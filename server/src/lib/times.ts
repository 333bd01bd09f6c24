export const SECOND_MS = 1000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS
export const DAY_S = DAY_MS / SECOND_MS

const TIME =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)(?:T(?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d)(?:\.(?<fraction>\d{1,9}))?)?(?:Z|(?<sign>[+-])(?<offsetHour>\d\d):(?<offsetMinute>\d\d))?)?$/
const OFFSET = /(?:Z|[+-]\d\d:\d\d)$/

const YEAR_MIN = 1970
const YEAR_MAX = 2100

/** The first instant of the years 1 to 9999. */
export const FIRST_DATE_MS = Date.parse('0001-01-01T00:00:00.000Z')
/** The last one. */
export const LAST_DATE_MS = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * The instant of an ISO 8601 text, or null (D-F-9): a date, or date with a time to the minute or finer. UTC is assumed without
 * an offset. Truncated to milliseconds. `Date.parse` cannot be used, because it reads 30 February as 2 March.
 */
export function parseTime(text: string): Date | null {
  const instant = parseDate(text)
  const year = instant?.getUTCFullYear() ?? 0
  return year >= YEAR_MIN && year <= YEAR_MAX ? instant : null
}

/** The instant of a date in data, rules and imports, or null. It is read as by `parseTime`, but may be in the years 1 to 9999. */
export function parseDate(text: string): Date | null {
  const groups = TIME.exec(text)?.groups
  if (!groups) return null
  const part = (name: string) => Number(groups[name] ?? 0)
  if (part('hour') > 23 || part('minute') > 59 || part('second') > 59) return null
  if (part('offsetHour') > 23 || part('offsetMinute') > 59) return null

  // `Date.UTC` reads the years 0 to 99 as 1900 to 1999.
  const day = new Date(0)
  day.setUTCFullYear(part('year'), part('month') - 1, part('day'))
  if (part('year') === 0 || day.getUTCMonth() !== part('month') - 1 || day.getUTCDate() !== part('day')) return null

  const offsetMinutes = (part('offsetHour') * 60 + part('offsetMinute')) * (groups.sign === '-' ? -1 : 1)
  const minutes = part('hour') * 60 + part('minute') - offsetMinutes
  const milliseconds = Number((groups.fraction ?? '').slice(0, 3).padEnd(3, '0'))
  const instant = new Date(day.getTime() + minutes * MINUTE_MS + part('second') * SECOND_MS + milliseconds)
  return isDateMs(instant.getTime()) ? instant : null
}

const isDateMs = (ms: number): boolean => ms >= FIRST_DATE_MS && ms <= LAST_DATE_MS

/** Is this a date that data, rules and imports accept (D-F-9)? */
export const isDate = (text: string) => parseDate(text) !== null

// Shorter numbers are not taken for timestamps in text, because `2026` and `20261120` mean something else.
const TIMESTAMP = /^(?:\d{9,10}|\d{12,13})$/
const TIMESTAMP_MS_MIN = 1e11
const DECIMAL = /^-?\d+\.(\d+)$/

/**
 * The instant of a value that is declared a date (D-F-9): ISO 8601, or a Unix timestamp in seconds or milliseconds, as a number or as
 * text. Null if it is neither.
 */
export function parseDeclaredDate(value: unknown): Date | null {
  if (typeof value === 'number') return dateOfTimestamp(value)
  if (typeof value !== 'string') return null
  return TIMESTAMP.test(value) ? dateOfTimestamp(Number(value)) : parseDate(value)
}

/** The instant of a Unix timestamp, which is in milliseconds if it is large; cut to milliseconds, null outside the years 1 to 9999. */
export function dateOfTimestamp(timestamp: number): Date | null {
  const ms = Math.abs(timestamp) >= TIMESTAMP_MS_MIN ? Math.trunc(timestamp) : msOfSeconds(timestamp)
  return isDateMs(ms) ? new Date(ms) : null
}

/** By the digits, because a product of binary fractions can be a millisecond off. */
function msOfSeconds(seconds: number): number {
  const fraction = Number((DECIMAL.exec(String(seconds))?.[1] ?? '').slice(0, 3).padEnd(3, '0'))
  return Math.trunc(seconds) * SECOND_MS + (seconds < 0 ? -fraction : fraction)
}

/** Is this a time that the API accepts (D-F-9)? */
export const isTime = (text: string) => parseTime(text) !== null

/** Is this a time without an offset, which can mean the local time of any zone (D-F-9)? `parseTime` reads it as UTC. */
export const isWallClock = (text: string) => isTime(text) && !OFFSET.test(text)
