/**
 * Arbitrary rules, users and events that are likely to match: few names, few values, and instants on a coarse grid or a millisecond beside
 * it, so that they are often equal or on the edges of windows.
 */
import fc from 'fast-check'
import { HOUR_MS } from '../src/lib/times.ts'

export type Json = Record<string, unknown>

export type MadeUpEvent = { name: string; source: 'api' | 'system'; data: Json; atMs: number }

export type MadeUpUser = {
  email: string | null
  phone: string | null
  timezone: string | null
  locale: string | null
  anonymous_id: string | null
  has_external_id: boolean
  has_push_device: boolean
  createdAtMs: number
  data: Json
  devices: { os: string | null; os_version: string | null; model: string | null; app_version: string | null; app_build: string | null }[]
  /** Subscription states by the index of the type in the project; absent means the default. */
  states: Record<number, 0 | 1 | 2>
  /** Memberships by the index of the list in the project. */
  lists: number[]
  history: MadeUpEvent[]
  /** Events of a user who was merged into this one. */
  mergedHistory: MadeUpEvent[]
}

/** The ids that rules may refer to. */
export type ReferenceIds = { lists: number[]; subscriptions: number[]; campaigns: number[] }

const STEP_MS = 6 * HOUR_MS
const STEPS = 160

const EVENT_NAMES = ['purchase', 'login', 'email_opened', 'text_sent', 'list_entered']
const DURATIONS = ['6h', '360m', '1d', '2d', '7d', '2w', '30d', '1y', '200y']
const FAR_DATES = ['0001-01-01', '0099-06-30T12:00Z', '1826-11-23T09:00Z', '1969-12-31', '2226-11-23', '9999-12-31T23:59:59.999Z']
const TEXTS = ['pro', 'prose', 'free', '', 'Perth', 'red']
const NUMBERS = [0, 1, 2.5, 3, -1, 1e21]
const ZONES = ['Australia/Sydney', 'Australia/Perth', 'Europe/London', 'UTC', 'US/Pacific']
const PATHS = ['data.plan', 'data.score', 'data.tags', 'data.when', 'data.address.city', 'data.a\\.b', 'data.0', 'data.tags.0']

/** Steps with the distances of the durations in rules, so that instants are on the edges of windows. */
const EDGE_STEPS = [-120, -56, -28, -8, -4, -1, 0, 1, 4, 8, 28]

/** Instants within forty days of another, mostly equal to others or beside them. */
export const instants = (aroundMs: number): fc.Arbitrary<number> =>
  fc
    .tuple(fc.oneof(fc.constantFrom(...EDGE_STEPS), fc.integer({ min: -STEPS, max: STEPS })), fc.constantFrom(0, 0, 0, -1, 1))
    .map(([step, jitter]) => aroundMs + step * STEP_MS + jitter)

const isoTimes = (aroundMs: number) =>
  fc.tuple(instants(aroundMs), fc.constantFrom('Z', '+00:00', '-10:30')).map(([ms, zone]) => {
    if (zone === 'Z') return new Date(ms).toISOString()
    const shiftMs = zone === '-10:30' ? -10.5 * HOUR_MS : 0
    return new Date(ms + shiftMs).toISOString().replace('Z', zone)
  })

/** Unix timestamps in seconds or milliseconds, as numbers or text. */
const timestamps = (aroundMs: number): fc.Arbitrary<number | string> =>
  fc
    .tuple(instants(aroundMs), fc.constantFrom(1, 1000), fc.boolean())
    .map(([ms, unit, isText]) => (isText ? String(Math.trunc(ms / unit)) : ms / unit))

const scalars = fc.oneof(fc.constantFrom(...TEXTS), fc.constantFrom(...NUMBERS), fc.boolean())

const values = (aroundMs: number): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 4, arbitrary: scalars },
    { weight: 2, arbitrary: isoTimes(aroundMs) },
    { weight: 1, arbitrary: timestamps(aroundMs) },
    { weight: 1, arbitrary: fc.constantFrom(...FAR_DATES) },
    { weight: 1, arbitrary: fc.array(fc.oneof(scalars, fc.constant(['red']), fc.constant(null)), { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constantFrom(null, '2026-02-30', {}, { pro: 1 }, { city: 'Perth' }) },
  )

const dataOf = (aroundMs: number): fc.Arbitrary<Json> => {
  const value = values(aroundMs)
  const city = fc.oneof(fc.record({ city: value }), value)
  return fc.record(
    { plan: value, score: value, tags: value, when: value, address: city, 'a.b': value, '0': value },
    { requiredKeys: [], noNullPrototype: true },
  )
}

/** The events of a user around an instant. */
export const histories = (aroundMs: number, { lists, campaigns }: ReferenceIds, maxLength = 8): fc.Arbitrary<MadeUpEvent[]> =>
  fc.array(
    fc.record({
      name: fc.constantFrom(...EVENT_NAMES),
      source: fc.constantFrom('api', 'system'),
      data: fc
        .tuple(dataOf(aroundMs), fc.constantFrom(undefined, ...lists), fc.constantFrom(undefined, ...campaigns))
        .map(([data, list_id, campaign_id]) => ({
          ...data,
          ...(list_id !== undefined && { list_id }),
          ...(campaign_id !== undefined && { campaign_id }),
        })),
      atMs: fc.oneof(
        instants(aroundMs),
        fc.constantFrom(0, 1, STEP_MS, 300_000).map((ms) => aroundMs + ms),
      ),
    }),
    { maxLength },
  )

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 3 })
const versions = maybe(fc.constantFrom('17.1', '17', '18'))

/** Users with all data that rules can use. */
export const users = (aroundMs: number, referenceIds: ReferenceIds): fc.Arbitrary<MadeUpUser> =>
  fc.record({
    email: maybe(fc.constantFrom('kim@example.com', 'prose@example.com', 'kim@example.org')),
    phone: maybe(fc.constantFrom('+61412345678', '+14155552671')),
    timezone: maybe(fc.constantFrom(...ZONES)),
    locale: maybe(fc.constantFrom('en-AU', 'pro')),
    anonymous_id: maybe(fc.constantFrom('pro', 'red')),
    has_external_id: fc.boolean(),
    has_push_device: fc.boolean(),
    createdAtMs: instants(aroundMs),
    data: dataOf(aroundMs),
    devices: fc.array(
      fc.record({
        os: maybe(fc.constantFrom('iOS', 'Android')),
        os_version: versions,
        model: maybe(fc.constantFrom('pro', 'free')),
        app_version: versions,
        app_build: versions,
      }),
      { maxLength: 2 },
    ),
    states: fc
      .array(fc.tuple(fc.nat(Math.max(0, referenceIds.subscriptions.length - 1)), fc.constantFrom(0 as const, 1 as const, 2 as const)), {
        maxLength: 2,
      })
      .map((pairs) => Object.fromEntries(pairs) as Record<number, 0 | 1 | 2>),
    lists: fc.subarray(referenceIds.lists.map((_, index) => index)),
    history: histories(aroundMs, referenceIds),
    mergedHistory: fc.oneof(
      { weight: 3, arbitrary: fc.constant<MadeUpEvent[]>([]) },
      { weight: 1, arbitrary: histories(aroundMs, referenceIds, 3) },
    ),
  })

const durations = fc.constantFrom(...DURATIONS)

const stringTests = fc.oneof(
  fc.record({ is: fc.constantFrom(...TEXTS, 'kim@example.com', 'AU', 'Europe', 'iOS', '17') }),
  fc.record({ is_not: fc.constantFrom(...TEXTS, 'AU') }),
  fc.record({ one_of: fc.uniqueArray(fc.constantFrom(...TEXTS, 'GB', 'Australia', '18'), { minLength: 1, maxLength: 3 }) }),
  fc.record({ not_one_of: fc.uniqueArray(fc.constantFrom(...TEXTS, 'US'), { minLength: 1, maxLength: 3 }) }),
  fc.record({ contains: fc.constantFrom('pro', '.', 'e') }),
  fc.record({ does_not_contain: fc.constantFrom('pro', 'example') }),
  fc.record({ starts_with: fc.constantFrom('pro', '+61', '1') }),
  fc.record({ ends_with: fc.constantFrom('o', '.com', 'U') }),
  fc.record({ is_set: fc.boolean() }),
)

const numberTests = fc.oneof(
  fc.record({ greater_than: fc.constantFrom(...NUMBERS) }),
  fc.record({ less_than: fc.constantFrom(...NUMBERS) }),
  fc.record({ at_least: fc.constantFrom(...NUMBERS) }),
  fc.record({ at_most: fc.constantFrom(...NUMBERS) }),
  fc.tuple(fc.constantFrom(...NUMBERS), fc.constantFrom(...NUMBERS)).map(([a, b]) => ({ between: [Math.min(a, b), Math.max(a, b)] })),
)

const mixedTests = fc.oneof(
  fc.record({ is: scalars }),
  fc.record({ is_not: scalars }),
  fc.record({ one_of: fc.array(scalars, { minLength: 1, maxLength: 3 }) }),
  fc.record({ not_one_of: fc.array(scalars, { minLength: 1, maxLength: 3 }) }),
  fc.record({ contains: scalars.filter((value) => value !== '') }),
  fc.record({ does_not_contain: scalars.filter((value) => value !== '') }),
  fc.record({ contains_any: fc.array(scalars, { minLength: 1, maxLength: 3 }) }),
)

const fixedDates = (aroundMs: number) => {
  const date = fc.oneof({ weight: 4, arbitrary: isoTimes(aroundMs) }, { weight: 1, arbitrary: fc.constantFrom(...FAR_DATES) })
  return fc.oneof(fc.record({ before: date }), fc.record({ after: date }))
}

const declared = fc.record({ as: fc.constant('date') })

const movingDates = fc.oneof(
  fc.record({ within_last: durations }),
  fc.record({ more_than_ago: durations }),
  fc.record({ within_next: durations }),
)

const merged = (...parts: fc.Arbitrary<Json>[]): fc.Arbitrary<Json> => fc.tuple(...parts).map((all) => Object.assign({}, ...all) as Json)

function attributes(aroundMs: number): fc.Arbitrary<Json> {
  const columns = ['email', 'phone', 'timezone', 'locale', 'external_id', 'anonymous_id', 'timezone.country', 'timezone.region']
  const dates = fc.oneof(fixedDates(aroundMs), movingDates)
  return fc.oneof(
    { weight: 3, arbitrary: merged(fc.record({ attribute: fc.constantFrom(...columns) }), stringTests) },
    {
      weight: 6,
      arbitrary: merged(fc.record({ attribute: fc.constantFrom(...PATHS) }), fc.oneof(stringTests, numberTests, mixedTests, dates)),
    },
    { weight: 2, arbitrary: merged(fc.record({ attribute: fc.constantFrom(...PATHS) }), declared, dates) },
    { weight: 1, arbitrary: merged(fc.constant({ attribute: 'created_at' }), dates) },
    { weight: 1, arbitrary: merged(fc.constant({ attribute: 'has_push_device' }), fc.record({ is: fc.boolean() })) },
  )
}

const wheres = (aroundMs: number) =>
  fc.array(
    merged(
      fc.record({ attribute: fc.constantFrom(...PATHS) }),
      fc.oneof(stringTests, numberTests, mixedTests, fixedDates(aroundMs), merged(declared, fixedDates(aroundMs))),
    ),
    { minLength: 1, maxLength: 2 },
  )

/** `since`, `until`, both or neither. `since` is before `until`. */
const periods = (aroundMs: number): fc.Arbitrary<Json> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: instants(aroundMs).map((ms) => ({ since: new Date(ms).toISOString() })) },
    { weight: 1, arbitrary: instants(aroundMs).map((ms) => ({ until: new Date(ms).toISOString() })) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(instants(aroundMs), fc.integer({ min: 1, max: STEPS }))
        .map(([ms, steps]) => ({ since: new Date(ms).toISOString(), until: new Date(ms + steps * STEP_MS).toISOString() })),
    },
  )

const windows = fc.oneof(fc.constant({}), fc.record({ within: durations }))

const counts = fc.oneof(
  fc.constant({}),
  fc.record({ at_least: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ at_most: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ exactly: fc.integer({ min: 0, max: 3 }) }),
)

function events(aroundMs: number, { lists }: ReferenceIds): fc.Arbitrary<Json> {
  const dates = fc.oneof(fixedDates(aroundMs), movingDates)
  const edge = fc.oneof(fc.record({ first: dates }), fc.record({ last: dates }))
  const where = fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: fc.record({ where: wheres(aroundMs) }) })
  const condition = fc.oneof({ weight: 3, arbitrary: merged(counts, windows) }, { weight: 1, arbitrary: edge })
  const name = fc.constantFrom(...EVENT_NAMES.filter((one) => one !== 'list_entered'))
  const entries = fc.constantFrom(...lists).map((id) => ({ event: 'list_entered', where: [{ attribute: 'data.list_id', is: id }] }))
  const plain = merged(fc.record({ event: name }), where, condition, periods(aroundMs))
  if (lists.length === 0) return plain
  return fc.oneof({ weight: 6, arbitrary: plain }, { weight: 1, arbitrary: merged(entries, condition, periods(aroundMs)) })
}

/** A condition of any kind. Conditions with an id are generated only if there are ids. */
function conditions(aroundMs: number, referenceIds: ReferenceIds): fc.Arbitrary<Json> {
  const { lists, subscriptions, campaigns } = referenceIds
  const device = fc.record({ device: fc.constantFrom('os', 'os_version', 'model', 'app_version', 'app_build') })
  const bucket = fc.record({ bucket: fc.constantFrom('seed', 'другой') })
  const is = fc.constantFrom('subscribed', 'unsubscribed', 'confirmed')
  const did = fc.constantFrom('opened', 'sent')
  return fc.oneof(
    { weight: 6, arbitrary: attributes(aroundMs) },
    { weight: 6, arbitrary: events(aroundMs, referenceIds) },
    { weight: 1, arbitrary: merged(device, stringTests) },
    {
      weight: 1,
      arbitrary: merged(
        bucket,
        fc.integer({ min: 1, max: 99 }).map((less_than) => ({ less_than })),
      ),
    },
    ...(lists.length === 0 ? [] : [{ weight: 1, arbitrary: fc.record({ list: fc.constantFrom(...lists) }) as fc.Arbitrary<Json> }]),
    ...(subscriptions.length === 0
      ? []
      : [{ weight: 1, arbitrary: fc.record({ subscription: fc.constantFrom(...subscriptions), is }) as fc.Arbitrary<Json> }]),
    ...(campaigns.length === 0
      ? []
      : [
          {
            weight: 1,
            arbitrary: merged(fc.record({ campaign: fc.constantFrom(...campaigns), did }), windows, periods(aroundMs)),
          },
        ]),
  )
}

/** A whole rule, up to four levels deep. */
export function rules(aroundMs: number, referenceIds: ReferenceIds): fc.Arbitrary<Json> {
  const leaf = conditions(aroundMs, referenceIds)
  const { node } = fc.letrec<{ node: Json; group: Json }>((tie) => ({
    node: fc.oneof({ maxDepth: 3, depthSize: 'small', withCrossShrink: true }, leaf, tie('group')),
    group: fc.oneof(
      ...(['all', 'any', 'none'] as const).map((is) =>
        fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((of): Json => ({ [is]: of })),
      ),
      tie('node').map((inside): Json => ({ not: inside })),
    ),
  }))
  return node
}
