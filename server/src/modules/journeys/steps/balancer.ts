import { type Static, Type } from 'typebox'
import { Exact, OneOf } from '../../../lib/shapes.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../lib/times.ts'
import { missingOf } from './settings.ts'
import { type Case, DEFAULT_PATH, type Decision, type StepContext, step } from './step.ts'

const INTERVALS = { second: SECOND_MS, minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS }

const Settings = Exact({
  rate_limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'The number of users who pass in each interval.' }),
  ),
  rate_interval: Type.Optional(OneOf(['second', 'minute', 'hour', 'day'], { description: 'The length of the interval.' })),
  max_wait_hours: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 8760, description: 'Users who would wait longer take the path `over_limit` at once.' }),
  ),
})
type Settings = Static<typeof Settings>

type Rate = { rate_limit?: unknown; rate_interval?: unknown }

/** Whether users who wait by one of these settings keep their places by the other. `max_wait_hours` counts only when they get them. */
export const isSameRate = (one: Rate, other: Rate): boolean =>
  one.rate_limit === other.rate_limit && one.rate_interval === other.rate_interval

/** The time between two places by published settings. */
export const placeMs = (rate: Rate): number => {
  const { rate_limit, rate_interval } = rate as Required<Settings>
  return INTERVALS[rate_interval] / rate_limit
}

const PASSED: Decision = { is: 'go', path: DEFAULT_PATH, reason: 'reserved' }

function decide({ rate_limit, rate_interval, max_wait_hours }: Settings, { input, now, noted }: StepContext): Decision {
  switch (input.is) {
    case 'arrived': {
      if (rate_limit === undefined || rate_interval === undefined) return PASSED
      const maxWaitMs = max_wait_hours === undefined ? null : max_wait_hours * HOUR_MS
      return { is: 'do', effect: { is: 'reserve', limit: rate_limit, intervalMs: INTERVALS[rate_interval], maxWaitMs } }
    }
    case 'done':
      if (input.result.is === 'over_limit') return { is: 'go', path: 'over_limit', reason: 'over_limit' }
      return input.result.is === 'reserved' ? waitFor(input.result.at, now) : PASSED
    case 'timer':
      return typeof noted.at === 'string' ? waitFor(new Date(noted.at), now) : PASSED
    default:
      return { is: 'stay' }
  }
}

const waitFor = (at: Date, now: Date): Decision =>
  at <= now ? PASSED : { is: 'wait', until: at, on: [], note: 'reserved', seen: { at: at.toISOString() } }

const hundred: Settings = { rate_limit: 100, rate_interval: 'minute' }
const later = new Date('2026-11-23T09:05:00.000Z')
const waiting: Decision = { is: 'wait', until: later, on: [], note: 'reserved', seen: { at: later.toISOString() } }

const CASES: Case<Settings>[] = [
  {
    title: 'reserves a place on arrival',
    settings: hundred,
    decides: { is: 'do', effect: { is: 'reserve', limit: 100, intervalMs: 60_000, maxWaitMs: null } },
  },
  {
    title: 'reserves a place that is not too late',
    settings: { ...hundred, max_wait_hours: 2 },
    decides: { is: 'do', effect: { is: 'reserve', limit: 100, intervalMs: 60_000, maxWaitMs: 7_200_000 } },
  },
  {
    title: 'passes at once',
    settings: hundred,
    given: { input: { is: 'done', result: { is: 'reserved', at: new Date('2026-11-23T09:00:00.000Z') } } },
    decides: PASSED,
  },
  {
    title: 'waits for its place',
    settings: hundred,
    given: { input: { is: 'done', result: { is: 'reserved', at: later } } },
    decides: waiting,
  },
  {
    title: 'passes when its place comes',
    settings: hundred,
    given: { now: later, noted: { at: later.toISOString() }, input: { is: 'timer' } },
    decides: PASSED,
  },
  {
    title: 'waits on when the timer was early',
    settings: hundred,
    given: { noted: { at: later.toISOString() }, input: { is: 'timer' } },
    decides: waiting,
  },
  {
    title: 'a place later than `max_wait_hours`',
    settings: { ...hundred, max_wait_hours: 2 },
    given: { input: { is: 'done', result: { is: 'over_limit' } } },
    decides: { is: 'go', path: 'over_limit', reason: 'over_limit' },
  },
  {
    title: 'an event changes nothing',
    settings: hundred,
    given: { input: { is: 'event', name: 'purchase', data: {}, createdAt: later } },
    decides: { is: 'stay' },
  },
]

export const balancer = step({
  label: 'Limit the rate',
  description: 'Lets a limited number of users pass in each interval. The others wait until there is room for them.',
  also: ['rate limit', 'throttle', 'batch', 'drip', 'pacing'],
  settings: Settings,
  example: { rate_limit: 100, rate_interval: 'minute' },
  sentence: 'let 100 users pass each minute',
  paths: () => [
    { path: DEFAULT_PATH, isRequired: true },
    { path: 'over_limit', isRequired: false },
  ],
  faults: (settings, when) => (when === 'published' ? missingOf(settings, 'rate_limit', 'rate_interval') : []),
  decide,
  tell: (_, { path, left_at }) => {
    if (left_at === null) return 'Waiting because of the rate limit.'
    return path === 'over_limit' ? 'The wait for the rate limit would have been too long.' : 'Passed the rate limit.'
  },
  cases: CASES,
})
