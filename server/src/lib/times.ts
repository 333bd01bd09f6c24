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

/**
 * The instant of an ISO 8601 text, or null (D-F-9): a date, or a date with a time to the minute or finer. UTC is assumed without
 * an offset. Truncated to milliseconds. `Date.parse` cannot be used, because it reads 30 February as 2 March.
 */
export function parseTime(text: string): Date | null {
  const groups = TIME.exec(text)?.groups
  if (!groups) return null
  const part = (name: string) => Number(groups[name] ?? 0)
  if (part('hour') > 23 || part('minute') > 59 || part('second') > 59) return null
  if (part('offsetHour') > 23 || part('offsetMinute') > 59) return null

  const day = new Date(Date.UTC(part('year'), part('month') - 1, part('day')))
  if (!day.toISOString().startsWith(text.slice(0, 10))) return null

  const offsetMinutes = (part('offsetHour') * 60 + part('offsetMinute')) * (groups.sign === '-' ? -1 : 1)
  const minutes = part('hour') * 60 + part('minute') - offsetMinutes
  const milliseconds = Number((groups.fraction ?? '').slice(0, 3).padEnd(3, '0'))
  const instant = new Date(day.getTime() + minutes * MINUTE_MS + part('second') * SECOND_MS + milliseconds)
  const year = instant.getUTCFullYear()
  return year >= YEAR_MIN && year <= YEAR_MAX ? instant : null
}

/** Is this a time that the API accepts (D-F-9)? */
export const isTime = (text: string) => parseTime(text) !== null

/** Is this a time without an offset, which can mean the local time of any zone (D-F-9)? `parseTime` reads it as UTC. */
export const isWallClock = (text: string) => isTime(text) && !OFFSET.test(text)
