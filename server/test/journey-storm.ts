/**
 * A month of everything that can happen to journeys, as a script that can be run in several projects: the same script gives the same end,
 * whatever fails meanwhile.
 */
import { EVENT_NAMES, type GraphIds, type GrownGraph, type GrownStep, type Pick } from './journey-graphs.ts'

export const USERS = ['ana', 'ben', 'cleo', 'dan', 'eve', 'finn', 'gus', 'hana']
export const BROWSERS = ['tab-1', 'tab-2', 'tab-3']
export const JOURNEYS = 3

/** One thing that happens, and how much time passes before it. */
export type Happening = { afterMs: number } & (
  | { do: 'event'; user: string; name: string; data: Record<string, unknown>; id: string }
  /** An event that was sent before, sent again. */
  | { do: 'repeat' }
  /** An event of an earlier time, which comes late. */
  | { do: 'late'; user: string; name: string; lateMs: number; id: string }
  | { do: 'browse'; browser: string; name: string; id: string }
  /** The user of a browser turns out to be one who is known. */
  | { do: 'merge'; user: string; browser: string; id: string }
  | { do: 'attribute'; user: string; plan: string }
  | { do: 'list'; user: string; isIn: boolean }
  | { do: 'consent'; user: string; state: 0 | 1 }
  | { do: 'enter'; journey: number; user: string; key: string }
  /** By hand: of those who are inside, the nth by name. */
  | { do: 'move'; journey: number; nth: number; to: number }
  | { do: 'skip' | 'retry' | 'remove'; journey: number; nth: number }
  | { do: 'publish'; journey: number; hours: number; plans: number[] }
  | { do: 'hold' | 'resume' | 'off' | 'live'; journey: number }
  | { do: 'erase'; user: string }
  /** The clock is set, backwards or forwards. Jobs run at the new time. */
  | { do: 'clock'; byMs: number }
)

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const PAUSES_MS = [1000, 5 * MINUTE_MS, HOUR_MS, 20 * HOUR_MS]
const CLOCKS_MS = [-HOUR_MS, -10 * MINUTE_MS, -DAY_MS, 3 * DAY_MS, 40 * DAY_MS]
/** The deck: how often each kind comes. */
const SHARES: [Happening['do'], number][] = [
  ['event', 22],
  ['repeat', 2],
  ['late', 3],
  ['browse', 6],
  ['merge', 3],
  ['attribute', 5],
  ['list', 5],
  ['consent', 2],
  ['enter', 5],
  ['move', 3],
  ['skip', 3],
  ['retry', 1],
  ['remove', 2],
  ['publish', 5],
  ['hold', 1],
  ['resume', 3],
  ['off', 1],
  ['live', 2],
  ['clock', 3],
]

const of = <T>(pick: Pick, values: readonly T[]): T => values[pick(values.length)] as T

/** The kinds of a shuffled deck, so that each comes. */
function kinds(pick: Pick, length: number): Happening['do'][] {
  const deck = SHARES.flatMap(([kind, share]) => Array.from({ length: share }, () => kind))
  const shuffled: Happening['do'][] = []
  while (deck.length > 0) shuffled.push(...deck.splice(pick(deck.length), 1))
  return Array.from({ length }, (_, at) => shuffled[at % shuffled.length] as Happening['do'])
}

/** A script. Users are erased at its end, so that until then every visit is still stored. */
export function script(pick: Pick, length: number): Happening[] {
  const happenings = kinds(pick, length).map((kind, number) => happening(pick, kind, number))
  const erased = [of(pick, USERS)].map((user): Happening => ({ afterMs: MINUTE_MS, do: 'erase', user }))
  // A request that is repeated with its key after the entrance ended.
  const on = (['live', 'resume'] as const).map((kind): Happening => ({ afterMs: 0, do: kind, journey: 0 }))
  const repeated = [HOUR_MS, DAY_MS].map((afterMs): Happening => ({ afterMs, do: 'enter', journey: 0, user: 'ben', key: 'k-0' }))
  return [
    ...happenings,
    ...on,
    ...repeated,
    ...erased,
    { afterMs: HOUR_MS, do: 'event', user: 'ben', name: 'cart', data: { total: 7 }, id: 'last' },
  ]
}

function happening(pick: Pick, kind: Happening['do'], number: number): Happening {
  // A third of all comes at the instant of the one before it, and is applied together with it.
  const afterMs = pick(3) === 0 ? 0 : of(pick, PAUSES_MS) * (1 + pick(2)) + pick(MINUTE_MS)
  const user = of(pick, USERS)
  const journey = pick(JOURNEYS)
  const name = of(pick, EVENT_NAMES)
  const id = `e-${number}`
  switch (kind) {
    case 'event':
      return { afterMs, do: kind, user, name, data: { total: pick(100), cart: `c-${pick(3)}` }, id }
    case 'late':
      return { afterMs, do: kind, user, name, lateMs: pick(5) * DAY_MS, id }
    case 'browse':
      return { afterMs, do: kind, browser: of(pick, BROWSERS), name, id }
    case 'merge':
      return { afterMs, do: kind, user, browser: of(pick, BROWSERS), id }
    case 'attribute':
      return { afterMs, do: kind, user, plan: of(pick, ['pro', 'free']) }
    case 'list':
      return { afterMs, do: kind, user, isIn: pick(3) > 0 }
    case 'consent':
      return { afterMs, do: kind, user, state: pick(2) as 0 | 1 }
    case 'enter':
      return { afterMs, do: kind, journey, user, key: `k-${pick(2)}` }
    case 'move':
      return { afterMs, do: kind, journey, nth: pick(9), to: pick(30) }
    case 'publish':
      return { afterMs, do: kind, journey, hours: 1 + pick(3), plans: Array.from({ length: 30 }, () => pick(4)) }
    case 'clock':
      return { afterMs, do: kind, byMs: of(pick, CLOCKS_MS) }
    case 'repeat':
    case 'erase':
      return { afterMs, do: 'repeat' }
    case 'skip':
    case 'retry':
    case 'remove':
      return { afterMs, do: kind, journey, nth: pick(9) }
    default:
      return { afterMs, do: kind, journey }
  }
}

/**
 * The graph behind steps of every kind that acts or waits, so that each script meets them. Users enter the first journey by an event, the
 * second by a list, the third by a schedule, and each by what the graph has besides.
 */
export function behindAll(
  graph: GrownGraph,
  number: number,
  { campaigns, lists, staticLists, subscriptions, journeys }: GraphIds,
): GrownGraph {
  const [start, entrance] = Object.entries(graph).find(([, { type }]) => type === 'entrance') as [string, GrownStep]
  const triggers = [
    { trigger: 'event', event_name: 'cart', on_repeat: 'restart' },
    { trigger: 'list', list_id: staticLists[0] },
    { trigger: 'schedule', list_id: lists[0], schedule: 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0' },
  ]
  const conditions = [
    { path: 'bought', event_name: 'purchase' },
    { path: 'pro', rule: { attribute: 'data.plan', is: 'pro' } },
  ]
  const chain: [string, string, object, string[]?][] = [
    ['all-delay', 'delay', { format: 'duration', hours: 1 }],
    ['all-wait', 'wait_until', { conditions, timeout: '12h' }, ['bought', 'pro', 'timeout']],
    ['all-send', 'action', { campaign_id: campaigns[number % campaigns.length] }],
    ['all-rate', 'balancer', { rate_limit: 1000, rate_interval: 'minute' }],
    ['all-call', 'webhook', { url: 'https://example.com/score', retries: 1 }],
    ['all-list', 'list', { list_id: staticLists[0], change: number === 0 ? 'add' : 'remove' }],
    ['all-consent', 'subscription', { subscription_id: subscriptions[0], state: 1 }],
    ['all-event', 'event', { event_name: 'login', event_data: { total: 1 } }],
    ...journeys.slice(0, 1).map((journey_id): [string, string, object] => ['all-link', 'link', { journey_id }]),
  ]
  const keys = [...chain.map(([key]) => key), entrance.children[0]?.external_id]
  const steps = chain.map(([key, type, data, paths], at) => {
    const next = keys[at + 1]
    const children = next === undefined ? [] : (paths ?? [undefined]).map((path) => ({ external_id: next, ...(path && { path }) }))
    return [key, { type, x: 0, y: 0, data, children }]
  })
  const first = { ...entrance, data: { ...triggers[number], multiple: true }, children: [{ external_id: 'all-delay' }] }
  const api = {
    type: 'entrance',
    x: 0,
    y: 0,
    data: { trigger: 'api', multiple: true, concurrent: true },
    children: [{ external_id: 'all-end' }],
  }
  const end = { type: 'exit', x: 0, y: 0, data: {}, children: [] }
  return { ...graph, [start]: first, 'all-api': api, 'all-end': end, ...Object.fromEntries(steps) }
}

/**
 * Experiments divide users by their ids, which are others in each project: the first branch gets all. A place of a balancer is lost when
 * the transaction is killed: there are enough.
 */
export const withoutChance = (graph: GrownGraph): GrownGraph =>
  changed(graph, (step) => {
    if (step.type === 'balancer') return { ...step, data: { rate_limit: 1000, rate_interval: 'minute' } }
    if (step.type !== 'experiment') return step
    const branches = (step.data.branches as { path: string; weight: number }[]).map((one, at) => ({ ...one, weight: at === 0 ? 1 : 0 }))
    return { ...step, data: { ...step.data, branches } }
  })

/** The same graph with longer delays, as a new version. */
export const withDelays = (graph: GrownGraph, hours: number): GrownGraph =>
  changed(graph, (step) => {
    const { format, hours: before } = step.data
    return step.type === 'delay' && format === 'duration' && typeof before === 'number' ? { ...step, data: { ...step.data, hours } } : step
  })

const changed = (graph: GrownGraph, change: (step: GrownStep) => GrownStep): GrownGraph =>
  Object.fromEntries(Object.entries(graph).map(([key, step]) => [key, change(step)]))

/** What becomes of the users at each step with a new version. */
export function planOf(graph: GrownGraph, plans: number[]): object {
  const keys = Object.keys(graph)
  const targets = keys.filter((key) => graph[key]?.type !== 'entrance' && graph[key]?.data.when === undefined)
  const steps = keys.map((key, at) => {
    const plan = plans[at % plans.length] ?? 0
    if (graph[key]?.type === 'entrance') return [key, 'stay']
    return [key, ['stay', { move: key }, 'exit', { move: targets[(at + plan) % targets.length] }][plan]]
  })
  return { default: 'stay', steps: Object.fromEntries(steps) }
}
