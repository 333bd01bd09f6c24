import { type Static, Type } from 'typebox'
import type { Fault } from '../../../lib/errors.ts'
import { hasLiquid } from '../../../lib/liquid/liquid.ts'
import { Exact, Line, OneOf } from '../../../lib/shapes.ts'
import { MINUTE_MS } from '../../../lib/times.ts'
import { atDate, atTimeOfDay, clamped, durationOf, WEEKDAYS } from '../times.ts'
import { liquidDependencies, liquidFaults } from './liquid.ts'
import { broken, missingOf, needed } from './settings.ts'
import { type Case, type Decision, type Seen, type StepContext, step } from './step.ts'

const LOOP_WAIT_MIN_MS = MINUTE_MS

const Settings = Exact({
  format: Type.Optional(
    OneOf(['duration', 'time', 'date'], {
      description: 'What the user waits for: a `duration` (default), a `time` of day or a `date`.',
    }),
  ),
  days: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 3650,
      description:
        'For a duration, days of 24 hours; for a time of day, the lowest number of calendar days to wait; for a date, the days of the offset.',
    }),
  ),
  hours: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 10_000, description: 'The hours of a duration or an offset, in addition to the days.' }),
  ),
  minutes: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 100_000, description: 'The minutes of a duration or an offset, in addition to days and hours.' }),
  ),
  time: Type.Optional(
    Type.String({
      pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
      problem: 'must be a time of day such as `09:30`',
      description: 'A time of day in the user’s time zone or, if the user has none, the project’s.',
    }),
  ),
  weekdays: Type.Optional(
    Type.Array(OneOf(WEEKDAYS), {
      minItems: 1,
      maxItems: 7,
      description: 'For a time of day, the permitted weekdays: `mo` to `su`.',
    }),
  ),
  date: Type.Optional(Line(255, { description: 'An ISO 8601 date, or Liquid that renders one.' })),
  direction: Type.Optional(OneOf(['before', 'after'], { description: 'Whether the offset is before or after the date. Default `after`.' })),
})
type Settings = Static<typeof Settings>

function publishedFaults(settings: Settings): Fault[] {
  const { format = 'duration', days, hours, minutes, date, weekdays, direction } = settings
  const isEmpty = days === undefined && hours === undefined && minutes === undefined
  return [
    ...(format === 'duration' && isEmpty ? [needed('days', 'The step needs `hours`, `minutes` or')] : []),
    ...(format === 'duration' ? [] : missingOf(settings, format)),
    ...(weekdays !== undefined && format !== 'time' ? [broken('weekdays', 'Only a time of day can have `weekdays`. Omit it.')] : []),
    ...(direction !== undefined && format !== 'date' ? [broken('direction', 'Only a date has a `direction`. Omit it.')] : []),
    ...(format === 'date' ? dateFaults(date) : []),
  ]
}

function dateFaults(date: string | undefined): Fault[] {
  if (date === undefined) return []
  if (hasLiquid(date)) return liquidFaults(date, 'date')
  return atDate(date, {}, 'UTC') === null
    ? [broken('date', 'The value of `date` must be an ISO 8601 date, or Liquid that renders one.')]
    : []
}

/** The instant that the user waits for, anew from the arrival, so that a change of an attribute or of the zone counts. Null if there is none. */
function dueAt(settings: Settings, { arrivedAt, zone, entrance, rendered }: StepContext): Date | null {
  const { format = 'duration' } = settings
  switch (format) {
    case 'duration':
      return new Date(arrivedAt.getTime() + durationOf(settings))
    case 'time':
      return atTimeOfDay(arrivedAt, { ...settings, time: settings.time ?? '00:00', after: entrance.lastLeftAt }, zone)
    case 'date': {
      const date = rendered('date')
      return 'text' in date ? atDate(date.text, settings, zone) : null
    }
    default:
      return format satisfies never
  }
}

function decide(settings: Settings, context: StepContext): Decision {
  const { now, arrivedAt, input } = context
  if (input.is !== 'arrived' && input.is !== 'timer' && input.is !== 'changed') return { is: 'stay' }
  const due = dueAt(settings, context)
  if (due === null) return { is: 'go', path: 'missing', reason: 'date_missing' }
  const { at, isClamped } = clamped(due, arrivedAt)
  const seen = settings.format === 'date' ? { seen: { date: due.toISOString() } } : {}
  if (at < arrivedAt) return { is: 'go', path: 'past', reason: 'date_past', ...seen }
  if (at <= now) return { is: 'go', path: 'default', reason: isClamped ? 'clamped' : 'elapsed', ...seen }
  return { is: 'wait', until: at, on: dependencies(settings), ...(isClamped && { note: 'clamped' }), ...seen }
}

function dependencies({ format = 'duration', date = '' }: Settings): string[] {
  if (format === 'duration') return []
  return ['attribute:timezone', ...(format === 'date' ? liquidDependencies([date]) : [])]
}

/** Whether users stay for at least a minute. Time must pass before a time of day comes again; a date may be past at once. */
function waits({ format = 'duration', ...settings }: Settings): boolean {
  return format === 'time' || (format === 'duration' && durationOf(settings) >= LOOP_WAIT_MIN_MS)
}

const at = (text: string) => new Date(text)
const reachedAt = (text: string) => ({ now: at(text), arrivedAt: at(text) })
const elapsed: Decision = { is: 'go', path: 'default', reason: 'elapsed' }
const until = (text: string, on: string[] = []): Decision => ({ is: 'wait', until: at(text), on })
const zoned = ['attribute:timezone']
const dated = (instant: string) => ({ seen: { date: instant } })

const CASES: Case<Settings>[] = [
  { title: 'all zero passes at once', settings: { format: 'duration', days: 0, hours: 0, minutes: 0 }, decides: elapsed },
  {
    title: 'a duration counts from the arrival, a day as 24 hours, also over a change of the clock',
    settings: { days: 1, hours: 1 },
    given: { ...reachedAt('2026-10-03T10:00:00Z'), zone: 'Australia/Sydney' },
    decides: until('2026-10-04T11:00:00Z'),
  },
  {
    title: 'a duration is over when the timer is due',
    settings: { format: 'duration', hours: 1 },
    given: { arrivedAt: at('2026-11-23T08:00:00Z'), input: { is: 'timer' } },
    decides: elapsed,
  },
  {
    title: 'until 09:00, arrival at 09:00:00.000: now',
    settings: { format: 'time', time: '09:00' },
    given: reachedAt('2026-11-23T09:00:00.000Z'),
    decides: elapsed,
  },
  {
    title: 'until 09:00, arrival at 09:00:00.001: tomorrow',
    settings: { format: 'time', time: '09:00' },
    given: reachedAt('2026-11-23T09:00:00.001Z'),
    decides: until('2026-11-24T09:00:00Z', zoned),
  },
  {
    title: 'until 09:00 in a loop, back at 09:00:00.000: tomorrow',
    settings: { format: 'time', time: '09:00' },
    given: { ...reachedAt('2026-11-23T09:00:00.000Z'), entrance: { lastLeftAt: at('2026-11-23T09:00:00.000Z') } },
    decides: until('2026-11-24T09:00:00Z', zoned),
  },
  {
    title: 'until 02:30 on the day of the gap: 03:30',
    settings: { format: 'time', time: '02:30' },
    given: { ...reachedAt('2026-10-03T15:00:00Z'), zone: 'Australia/Sydney' },
    decides: until('2026-10-03T16:30:00Z', zoned),
  },
  {
    title: 'until 02:30, arrival in the second 02:10: the next day',
    settings: { format: 'time', time: '02:30' },
    given: { ...reachedAt('2026-04-04T16:10:00Z'), zone: 'Australia/Sydney' },
    decides: until('2026-04-05T16:30:00Z', zoned),
  },
  {
    title: 'a time of day waits for an allowed weekday',
    settings: { format: 'time', time: '09:00', days: 1, weekdays: ['mo', 'fr'] },
    given: reachedAt('2026-11-23T08:00:00Z'),
    decides: until('2026-11-27T09:00:00Z', zoned),
  },
  {
    title: 'a date is at midnight of the user',
    settings: { format: 'date', date: '{{ user.data.renews }}' },
    given: { zone: 'Australia/Sydney', rendered: { date: { text: '2026-12-01' } } },
    decides: { ...until('2026-11-30T13:00:00Z', ['attribute:timezone', 'attribute:data.renews']), ...dated('2026-11-30T13:00:00.000Z') },
  },
  {
    title: 'days before a date, at a time of day',
    settings: { format: 'date', date: '2026-12-10', days: 7, direction: 'before', time: '09:00' },
    given: { rendered: { date: { text: '2026-12-10' } } },
    decides: { ...until('2026-12-03T09:00:00Z', zoned), ...dated('2026-12-03T09:00:00.000Z') },
  },
  {
    title: 'an attribute that is missing',
    settings: { format: 'date', date: '{{ user.data.renews }}' },
    given: { rendered: { date: { text: '' } } },
    decides: { is: 'go', path: 'missing', reason: 'date_missing' },
  },
  {
    title: 'an attribute that is unreadable',
    settings: { format: 'date', date: '{{ user.data.renews }}' },
    given: { rendered: { date: { text: 'soon' } } },
    decides: { is: 'go', path: 'missing', reason: 'date_missing' },
  },
  {
    title: 'Liquid that fails',
    settings: { format: 'date', date: '{{ user.data.renews | divided_by: 0 }}' },
    given: { rendered: { date: { problem: 'divided by zero' } } },
    decides: { is: 'go', path: 'missing', reason: 'date_missing' },
  },
  {
    title: 'a date that is past on arrival',
    settings: { format: 'date', date: '2026-01-01' },
    given: { rendered: { date: { text: '2026-01-01' } } },
    decides: { is: 'go', path: 'past', reason: 'date_past', ...dated('2026-01-01T00:00:00.000Z') },
  },
  {
    title: 'an attribute changes while waiting: due anew',
    settings: { format: 'date', date: '{{ user.data.renews }}' },
    given: { input: { is: 'changed', what: ['attribute:data.renews'] }, rendered: { date: { text: '2026-12-24T10:00:00Z' } } },
    decides: { ...until('2026-12-24T10:00:00Z', ['attribute:timezone', 'attribute:data.renews']), ...dated('2026-12-24T10:00:00.000Z') },
  },
  {
    title: 'an attribute changes while waiting, to a date that has come meanwhile: fires',
    settings: { format: 'date', date: '{{ user.data.renews }}' },
    given: {
      arrivedAt: at('2026-11-20T00:00:00Z'),
      input: { is: 'changed', what: ['attribute:data.renews'] },
      rendered: { date: { text: '2026-11-21' } },
    },
    decides: { ...elapsed, ...dated('2026-11-21T00:00:00.000Z') } as Decision,
  },
  {
    title: 'the zone changes while waiting, so that the time of day has come: fires',
    settings: { format: 'time', time: '18:00' },
    given: {
      ...reachedAt('2026-11-23T06:00:00Z'),
      now: at('2026-11-23T09:00:00Z'),
      zone: 'Australia/Sydney',
      input: { is: 'changed', what: ['attribute:timezone'] },
    },
    decides: elapsed,
  },
  {
    title: 'more than 10 years',
    settings: { format: 'date', date: '2050-01-01' },
    given: { rendered: { date: { text: '2050-01-01' } } },
    decides: { ...until('2036-11-23T09:00:00Z', zoned), note: 'clamped', ...dated('2050-01-01T00:00:00.000Z') } as Decision,
  },
  {
    title: '10 years are over',
    settings: { format: 'date', date: '2050-01-01' },
    given: { arrivedAt: at('2016-11-23T09:00:00Z'), input: { is: 'timer' }, rendered: { date: { text: '2050-01-01' } } },
    decides: { is: 'go', path: 'default', reason: 'clamped', ...dated('2050-01-01T00:00:00.000Z') },
  },
  {
    title: 'an event changes nothing',
    settings: { format: 'duration', hours: 1 },
    given: { input: { is: 'event', name: 'purchase', data: {}, createdAt: at('2026-11-23T09:00:00Z') } },
    decides: { is: 'stay' },
  },
]

export const delay = step({
  label: 'Wait',
  description: 'Waits for a duration, until a time of day, or until a date.',
  also: ['time delay', 'delay', 'wait until a date', 'time window', 'pause', 'timer'],
  settings: Settings,
  example: { format: 'duration', days: 1, hours: 12 },
  sentence: 'wait for 1 day and 12 hours',
  waits,
  paths: () => [
    { path: 'default', isRequired: true },
    { path: 'past', isRequired: false },
    { path: 'missing', isRequired: false, exitsIfOpen: 'date_missing' },
  ],
  faults: (settings, when) => (when === 'published' ? publishedFaults(settings) : []),
  needs: ({ format, date }) => (format === 'date' && date !== undefined ? { liquid: [{ param: 'date', template: date }] } : {}),
  dependencies,
  decide,
  tell: (settings, { path, left_at, seen }) => {
    if (left_at === null) return `Waiting ${waited(settings, seen)}.`
    if (path === 'missing') return 'Did not wait: there was no date.'
    if (path === 'past') return 'Did not wait: the date had already passed.'
    return `Waited ${waited(settings, seen)}.`
  },
  cases: CASES,
})

/** What is waited for, in words. The date is the one of the visit, with its offset. */
function waited({ format = 'duration', days = 0, hours = 0, minutes = 0, time }: Settings, { date }: Seen): string {
  const length = [counted(days, 'day'), counted(hours, 'hour'), counted(minutes, 'minute')].filter((part) => part !== '').join(' and ')
  if (format === 'duration') return length === '' ? 'for no time' : `for ${length}`
  if (format === 'time') return `until ${time}${days > 0 ? `, at least ${counted(days, 'day')} later` : ''}`
  return typeof date === 'string' ? `until ${date}` : 'until a date'
}

const counted = (count: number, unit: string): string => (count === 0 ? '' : `${count} ${unit}${count === 1 ? '' : 's'}`)
