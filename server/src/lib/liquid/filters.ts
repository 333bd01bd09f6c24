/** Liquid filters for amounts and times in the user’s locale and time zone. */
import type { FilterImplOptions } from 'liquidjs'
import { LRUCache } from 'lru-cache'
import { isLocale, normaliseLocale } from '../locales.ts'
import { isTimeZone } from '../time-zones.ts'
import { MINUTE_MS } from '../times.ts'
import type { BudgetedContext } from './budget.ts'
import { valueAt } from './lookup.ts'

const CACHE_ENTRIES_MAX = 1000

// Creating a formatter takes about 50 µs, and many messages contain prices.
const amounts = new LRUCache<string, Intl.NumberFormat>({ max: CACHE_ENTRIES_MAX })
const zones = new LRUCache<string, Intl.DateTimeFormat>({ max: CACHE_ENTRIES_MAX })
/** The messages of a blast mention the same instants. */
const offsets = new LRUCache<string, number>({ max: CACHE_ENTRIES_MAX })

type FilterHandler = Extract<FilterImplOptions, CallableFunction>
type Filter = ThisParameterType<FilterHandler>

/** `{{ 12.5 | money: "AUD" }}`: an amount in the user’s locale, or else the project’s. Values that are not numbers stay unchanged. */
export const money: FilterHandler = function (this: Filter, value: unknown, currency: unknown) {
  const amount = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof amount !== 'number' || !Number.isFinite(amount)) return value
  const code = String(currency ?? '')
  return /^[A-Za-z]{3}$/.test(code) ? amountFormat(localeOf(this), code.toUpperCase()).format(amount) : `${amount} ${code}`.trim()
}

function amountFormat(locale: string, currency: string): Intl.NumberFormat {
  const key = `${locale} ${currency}`
  const known = amounts.get(key)
  if (known) return known
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency })
  amounts.set(key, format)
  return format
}

function localeOf(filter: Filter): string {
  const isUsable = (locale: unknown) => typeof locale === 'string' && isLocale(locale)
  const known = ofUserOrProject(filter, 'locale', isUsable)
  return normaliseLocale((known as string | undefined) ?? 'en')
}

/** A setting of the user, or else of the project, if it can be used. */
function ofUserOrProject({ context }: Filter, name: string, isUsable: (value: unknown) => boolean): unknown {
  const own = valueAt(context as BudgetedContext, ['user', name])
  if (isUsable(own)) return own
  const shared = valueAt(context as BudgetedContext, ['project', name])
  return isUsable(shared) ? shared : undefined
}

/** A time with the offset of a time zone. */
class ZonedTime {
  readonly at: Date
  readonly offsetMinutes: number
  constructor(at: Date, offsetMinutes: number) {
    this.at = at
    this.offsetMinutes = offsetMinutes
  }

  toString(): string {
    return new Date(this.at.getTime() + this.offsetMinutes * MINUTE_MS).toISOString().slice(0, 16).replace('T', ' ')
  }
}

/**
 * `{{ event.at | in_zone | date: "%H:%M" }}`: a time in the given zone, or else in the user’s, or else in the project’s. It reads what
 * Liquid’s own `date` reads, which knows the time now.
 */
export const inZone = (date: FilterHandler): FilterHandler =>
  function (this: Filter, value: unknown, zone: unknown) {
    const isSeconds = typeof value === 'string' && /^\d+$/.test(value)
    const at = timeOf(isSeconds ? Number(value) : value === 'now' || value === 'today' ? Number(date.call(this, value, '%s')) : value)
    return at === null ? value : new ZonedTime(at, offsetOf(zoneOf(this, zone), at))
  }

function timeOf(value: unknown): Date | null {
  if (value instanceof ZonedTime) return value.at
  const time = typeof value === 'number' ? new Date(value * 1000) : typeof value === 'string' ? new Date(inUtc(value)) : null
  return time === null || Number.isNaN(time.getTime()) ? null : time
}

const WITHOUT_OFFSET = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/

/** The instant of a time without an offset, which is in UTC (D-F-9): `Date` would take the zone of the server. Any other text is unchanged. */
function inUtc(text: string): Date | string {
  if (!WITHOUT_OFFSET.test(text)) return text
  const time = new Date(`${text.replace(' ', 'T')}Z`)
  return Number.isNaN(time.getTime()) ? text : time
}

/** One of Liquid’s own filters of times, which reads times without an offset in UTC, and writes the result of `in_zone` with its offset. */
export const readingUtc = (own: FilterHandler): FilterHandler =>
  function (this: Filter, value: unknown, ...args: unknown[]) {
    if (value instanceof ZonedTime) return own.call(withOffset(this, value), value.at, ...args)
    return own.call(this, typeof value === 'string' ? inUtc(value) : value, ...args)
  }

/** The filter as in an engine that writes times with this offset. Those of Liquid are minutes behind UTC. */
function withOffset({ context, ...filter }: Filter, { offsetMinutes }: ZonedTime): Filter {
  const opts = { ...context.opts, timezoneOffset: -offsetMinutes }
  return { ...filter, context: Object.create(context, { opts: { value: opts } }) }
}

function zoneOf(filter: Filter, named: unknown): string {
  const isUsable = (zone: unknown) => typeof zone === 'string' && isTimeZone(zone)
  const known = isUsable(named) ? named : ofUserOrProject(filter, 'timezone', isUsable)
  return (known as string | undefined) ?? 'UTC'
}

/** How many minutes a zone is ahead of UTC. */
function offsetOf(zone: string, at: Date): number {
  const key = `${zone} ${at.getTime()}`
  const known = offsets.get(key)
  if (known !== undefined) return known
  const offset = offsetFrom(zoneFormat(zone), at)
  offsets.set(key, offset)
  return offset
}

function zoneFormat(zone: string): Intl.DateTimeFormat {
  const known = zones.get(zone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
  zones.set(zone, format)
  return format
}

function offsetFrom(format: Intl.DateTimeFormat, at: Date): number {
  const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(format.format(at)) ?? []
  return sign === undefined ? 0 : (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}

/** Liquid’s own `date` filter, which also accepts the result of `in_zone`. */
export function dateFilter(own: FilterHandler): FilterHandler {
  return function (this: Filter, value: unknown, ...given: unknown[]) {
    const [at, args] = value instanceof ZonedTime ? [value.at, [given[0], -value.offsetMinutes]] : [value, given]
    return own.call(this, at, ...args)
  }
}
