/**
 * Schedules of entrances (D-JRN-14): recurrence rules of RFC 5545. Rules are evaluated on local times and converted to instants afterwards, so that a
 * time skipped by daylight saving is moved forward, and a repeated one comes once. Pure.
 */
import { LRUCache } from 'lru-cache'
import { RRuleTemporal } from 'rrule-temporal'
import { DAY_MS, HOUR_MS } from '../../lib/times.ts'
import { bounded, lastOf, otherWork, timesBetween } from './schedule-walk.ts'
import { instantOfLocal, localOf } from './times.ts'

/** Limits of the library for one search. A rule that needs more has no times that could be found in reasonable time. */
const SEARCH = { maxIterations: 2000, maxCandidateEvaluations: 20_000 }
const COUNT_MAX = 1000
const INTERVAL_MAX = 1000
const MINUTES_MAX = 4
const VALUES_MAX = 60
/** No local time is further from UTC. */
const OFFSET_MAX_MS = 15 * HOUR_MS
/** An outage longer than this skips what was missed. */
const MISSED_AFTER_MS = DAY_MS
const OCCURRENCES_MAX = 1000

type Range = readonly [min: number, max: number]
const INTEGERS: Record<string, Range> = {
  BYMONTH: [1, 12],
  BYMONTHDAY: [-31, 31],
  BYYEARDAY: [-366, 366],
  BYWEEKNO: [-53, 53],
  BYHOUR: [0, 23],
  BYMINUTE: [0, 59],
  BYSETPOS: [-366, 366],
}
const FREQUENCIES = ['YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY', 'HOURLY']
const WEEKDAY = /^(?:[+-]?\d{1,2})?(?:MO|TU|WE|TH|FR|SA|SU)$/
const INTEGER = /^[+-]?\d{1,4}$/
const LOCAL = /^\d{8}(?:T\d{6})?$/
const UNTIL = /^\d{8}(?:T\d{6}Z?)?$/
const START = /^DTSTART(?:;VALUE=DATE(?:-TIME)?)?:(?<value>.+)$/i
const DATE_LENGTH = 8

/** A schedule as it was written, checked. */
export type ParsedSchedule = {
  /** The rule without `COUNT` and `UNTIL`. */
  rule: string
  count: number | null
  /** The local time of `DTSTART`, such as `2026-11-23T09:00:00`; null if the publication is the start. */
  start: string | null
  /** The last local time, or the last instant. */
  until: { local: string } | { instant: Date } | null
}

/** An instant of a schedule, and the local time that it is of, which names it in causes. */
export type Occurrence = { local: string; at: Date }

/** Reads a schedule: `RRULE`, with or without the name, and `DTSTART` before it on a line of its own. The problem ends a sentence. */
function parseSchedule(text: string): ParsedSchedule | { problem: string } {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  const [rule = '', ...more] = lines.filter((line) => !/^DTSTART/i.test(line.trim()))
  const starts = lines.filter((line) => /^DTSTART/i.test(line.trim()))
  if (rule === '' || more.length > 0 || starts.length > 1)
    return { problem: 'must be one `RRULE`, with at most one `DTSTART` on a line before it' }
  const start = starts[0] === undefined ? null : (START.exec(starts[0].trim())?.groups?.value ?? '')
  if (start !== null && (!LOCAL.test(start) || localText(start) === null))
    return { problem: 'must have a local `DTSTART` such as `20261201T090000`, without a time zone' }
  const parts = new Map<string, string>()
  for (const part of rule
    .trim()
    .replace(/^RRULE:/i, '')
    .toUpperCase()
    .split(';')) {
    const [name = '', value = ''] = part.split('=', 2)
    if (parts.has(name)) return { problem: `must name \`${name.slice(0, 20)}\` once` }
    parts.set(name, value)
  }
  const problem = [...parts].map(([name, value]) => problemOf(name, value)).find((found) => found !== null)
  if (problem != null) return { problem }
  if (!parts.has('FREQ')) return { problem: 'must have `FREQ`' }
  if (parts.has('COUNT') && parts.has('UNTIL')) return { problem: 'must not have both `COUNT` and `UNTIL`' }
  const until = untilOf(parts.get('UNTIL'))
  if (until === undefined) return { problem: 'must have a date that exists in `UNTIL`' }
  const count = parts.has('COUNT') ? Number(parts.get('COUNT')) : null
  for (const end of ['COUNT', 'UNTIL']) parts.delete(end)
  return { rule: [...parts].map((pair) => pair.join('=')).join(';'), count, start: start === null ? null : localText(start), until }
}

function problemOf(name: string, value: string): string | null {
  const values = value.split(',')
  if (values.length > VALUES_MAX) return `may have at most ${VALUES_MAX} values in \`${name}\``
  const range = INTEGERS[name]
  if (range) {
    if (name === 'BYMINUTE' && values.length > MINUTES_MAX) return `may have at most ${MINUTES_MAX} values in \`BYMINUTE\``
    const [min, max] = range
    const isIn = (one: string) => INTEGER.test(one) && Number(one) >= min && Number(one) <= max && (min >= 0 || Number(one) !== 0)
    return values.every(isIn) ? null : `must have integers from ${min} to ${max} in \`${name}\``
  }
  switch (name) {
    case 'FREQ':
      return FREQUENCIES.includes(value) ? null : 'must have one of `YEARLY`, `MONTHLY`, `WEEKLY`, `DAILY`, `HOURLY` in `FREQ`'
    case 'INTERVAL':
      return isUpTo(value, INTERVAL_MAX) ? null : `must have an integer from 1 to ${INTERVAL_MAX} in \`INTERVAL\``
    case 'COUNT':
      return isUpTo(value, COUNT_MAX) ? null : `must have an integer from 1 to ${COUNT_MAX} in \`COUNT\``
    case 'BYDAY':
      return values.every((one) => WEEKDAY.test(one)) ? null : 'must have days such as `MO` or `-1FR` in `BYDAY`'
    case 'WKST':
      return /^(?:MO|TU|WE|TH|FR|SA|SU)$/.test(value) ? null : 'must have a day such as `MO` in `WKST`'
    case 'UNTIL':
      return UNTIL.test(value) ? null : 'must have a date such as `20261231` or `20261231T090000Z` in `UNTIL`'
    default:
      return `must not have \`${name.slice(0, 20)}\``
  }
}

const isUpTo = (value: string, max: number) => INTEGER.test(value) && Number(value) >= 1 && Number(value) <= max

/** `20261201T090000` as `2026-12-01T09:00:00`; null if there is no such date. A date alone is at midnight, or at `time`. */
function localText(value: string, time = '000000'): string | null {
  const [date, clock] = [value.slice(0, DATE_LENGTH), value.length > DATE_LENGTH ? value.slice(DATE_LENGTH + 1, DATE_LENGTH + 7) : time]
  const text = `${date.replace(/^(....)(..)(..)$/, '$1-$2-$3')}T${clock.replace(/^(..)(..)(..)$/, '$1:$2:$3')}`
  const parsed = new Date(`${text}.000Z`)
  return Number.isNaN(parsed.getTime()) || parsed.toISOString().slice(0, text.length) !== text ? null : text
}

/** A date alone includes the whole day. Undefined if there is no such date. */
function untilOf(value: string | undefined): ParsedSchedule['until'] | undefined {
  if (value === undefined) return null
  const local = localText(value, '235959')
  if (local === null) return undefined
  return value.endsWith('Z') ? { instant: new Date(`${local}Z`) } : { local }
}

/** A schedule with its start. */
export type Schedule = ParsedSchedule & { search: RRuleTemporal }

/**
 * Why a schedule cannot be used, as the end of a sentence; null if it can. A schedule must have an occurrence that a bounded search finds.
 */
export function scheduleProblem(text: string): string | null {
  const parsed = parseSchedule(text)
  if ('problem' in parsed) return parsed.problem
  // Times are whole minutes. One that was published before this was refused comes at them.
  if (parsed.start !== null && !parsed.start.endsWith(':00')) return 'must have a `DTSTART` at a whole minute, such as `20261201T090000`'
  const start = parsed.start ?? EXAMPLE_START
  try {
    return searchOf(parsed, start).next(new Date(`${start}Z`), true) === null ? NEVER : null
  } catch (error) {
    // Of a rule that breaks RFC 5545 in a way that only the library knows, and of one that is searched for too long.
    if (error instanceof Error) return NEVER
    throw error
  }
}

const NEVER = 'has no time that comes within a reasonable number of repetitions'
// A start from which all that rules can name comes within some years, such as 29 February.
const EXAMPLE_START = '2024-01-01T00:00:00'

const searchOf = ({ rule }: ParsedSchedule, start: string): RRuleTemporal =>
  new RRuleTemporal({
    rruleString: `DTSTART;TZID=UTC:${start.replaceAll(/[-:]/g, '')}\nRRULE:${rule}`,
    ...SEARCH,
    strict: true,
    cache: false,
  })

/**
 * Compiles a checked schedule. Without `DTSTART` it starts at the minute of the publication, in this time zone. `COUNT` becomes the local time of
 * the last occurrence, because the library counts from the start in every search.
 */
export async function compileSchedule(text: string, publishedAt: Date, zone: string): Promise<Schedule> {
  const parsed = parseSchedule(text)
  if ('problem' in parsed) throw new Error(`A checked schedule ${parsed.problem}.`)
  const start = parsed.start ?? `${localOf(publishedAt, zone)}:00`
  const search = searchOf(parsed, start)
  if (parsed.count === null) return { ...parsed, search }
  const key = `${start} ${parsed.count} ${parsed.rule}`
  const known = lastTimes.get(key)
  const last = known ? known.last : await lastOf(search, new Date(`${start}Z`), parsed.count)
  lastTimes.set(key, { last })
  return { ...parsed, search, until: last && { local: `${localOfUtc(last)}:00` } }
}

const LAST_KEPT = 1000
const lastTimes = new LRUCache<string, { last: Date | null }>({ max: LAST_KEPT })

const shifted = (at: Date, ms: number) => new Date(at.getTime() + ms)

/** The local times of a schedule that come in [from, to] in some time zone; none if they are too many to be searched. */
export const localsIn = ({ search }: Schedule, from: Date, to: Date): string[] =>
  bounded(() => search.between(shifted(from, -OFFSET_MAX_MS), shifted(to, OFFSET_MAX_MS), true), []).map(localOfUtc)

/** The same for a range of any length, in pieces between which other work runs. */
export async function localsThrough({ search }: Schedule, from: Date, to: Date): Promise<string[]> {
  const found: string[] = []
  const [first, last] = [shifted(from, -OFFSET_MAX_MS), shifted(to, OFFSET_MAX_MS)]
  for await (const { times } of timesBetween(search, first, last)) found.push(...times.map(localOfUtc))
  return found
}

/** Which of these local times of a schedule come in (from, to] in a time zone, the earliest first. */
export const occurrencesAmong = (schedule: Schedule, locals: readonly string[], from: Date, to: Date, zone: string): Occurrence[] =>
  inOrder(comingAmong(schedule, locals, from, to, zone))

/** Time zones take some 30 µs for each. */
const LOCALS_AT_ONCE = 200

/** The same for any number of local times, in pieces between which other work runs. */
export async function occurrencesThrough(
  schedule: Schedule,
  locals: readonly string[],
  from: Date,
  to: Date,
  zone: string,
): Promise<Occurrence[]> {
  const found: Occurrence[] = []
  for (let at = 0; at < locals.length; at += LOCALS_AT_ONCE) {
    await otherWork()
    found.push(...comingAmong(schedule, locals.slice(at, at + LOCALS_AT_ONCE), from, to, zone))
  }
  return inOrder(found)
}

const comingAmong = ({ until }: Schedule, locals: readonly string[], from: Date, to: Date, zone: string): Occurrence[] =>
  locals
    .filter((local) => until === null || 'instant' in until || `${local}:00` <= until.local)
    .map((local) => ({ local, at: instantOfLocal(local, zone) }))
    .filter(({ at }) => at > from && at <= to && (until === null || 'local' in until || at <= until.instant))

/** Times in a gap are moved to instants that other local times have too. */
const inOrder = (occurrences: Occurrence[]): Occurrence[] =>
  occurrences
    .toSorted((a, b) => a.at.getTime() - b.at.getTime())
    .filter(({ at }, index, sorted) => index === 0 || at > (sorted[index - 1] as Occurrence).at)

/** The instants in (from, to] in a time zone, the earliest first, at most 1,000. */
export const occurrencesIn = (schedule: Schedule, from: Date, to: Date, zone: string): Occurrence[] =>
  occurrencesAmong(schedule, localsIn(schedule, from, to), from, to, zone).slice(0, OCCURRENCES_MAX)

const MINUTE_LENGTH = 'yyyy-mm-ddThh:mm'.length
const localOfUtc = (time: Date | { epochMilliseconds: number }): string =>
  new Date('epochMilliseconds' in time ? time.epochMilliseconds : time).toISOString().slice(0, MINUTE_LENGTH)

/**
 * How far the next occurrence is looked for in pieces, between which other work runs: the library takes longer for it than for a range if a rule
 * has many days or times in a year, and for a range with many of these.
 */
const NEAR_MS = 400 * DAY_MS
const FIRST_PIECE_MS = 2 * DAY_MS
const PIECE_MS = 8 * DAY_MS

/** The first occurrence of a schedule after an instant; null if there is none. */
export async function nextOccurrence(schedule: Schedule, after: Date, zone: string): Promise<Occurrence | null> {
  for (let [fromMs, lengthMs] = [0, FIRST_PIECE_MS]; fromMs < NEAR_MS; fromMs += lengthMs, lengthMs = PIECE_MS) {
    const from = shifted(after, fromMs)
    const earliest = shifted(from, -OFFSET_MAX_MS)
    if (isOver(schedule, localOfUtc(earliest), from)) return null
    const [near] = occurrencesIn(schedule, from, shifted(from, lengthMs), zone)
    if (near) return near
    await otherWork()
  }
  const start = new Date(after.getTime() - OFFSET_MAX_MS)
  const { search } = schedule
  let next = bounded(() => search.next(start, true), null)
  for (let searched = 0; next !== null && searched < OCCURRENCES_MAX; searched++) {
    const local = localOfUtc(next)
    const at = instantOfLocal(local, zone)
    if (isOver(schedule, local, at)) return null
    // A time in a gap can come after later local times.
    if (at > after) return occurrencesIn(schedule, after, at, zone)[0] ?? null
    const last = new Date(next.epochMilliseconds)
    next = bounded(() => search.next(last, false), null)
  }
  return null
}

const isOver = ({ until }: Schedule, local: string, at: Date): boolean =>
  until !== null && ('instant' in until ? at > until.instant : `${local}:00` > until.local)

/**
 * The occurrences of a schedule that became due after `since`: the latest one if it is at most 24 hours old, and how many others were
 * missed in the last 7 days.
 */
export function dueOccurrence(schedule: Schedule, since: Date, now: Date, zone: string): { run: Occurrence | null; missed: number } {
  const due = occurrencesIn(schedule, new Date(Math.max(since.getTime(), now.getTime() - MISSED_LOOKED_AT_MS)), now, zone)
  const latest = due.at(-1)
  if (latest === undefined) return { run: null, missed: 0 }
  const isRecent = latest.at.getTime() >= now.getTime() - MISSED_AFTER_MS
  return { run: isRecent ? latest : null, missed: due.length - (isRecent ? 1 : 0) }
}

/** What was missed longer ago is not counted. */
const MISSED_LOOKED_AT_MS = 7 * DAY_MS
