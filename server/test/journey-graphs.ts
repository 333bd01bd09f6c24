/**
 * Arbitrary graphs of journeys that can be published, and ways to break them. A graph is grown from its entrances: every path of a step
 * leads to a new step or to a later one, and only a delay leads back to an earlier one.
 */
import fc from 'fast-check'

export type GrownStep = {
  type: string
  x: number
  y: number
  data: Record<string, unknown>
  children: { external_id: string; path?: string }[]
}
/** Steps by key, as they are sent. */
export type GrownGraph = Record<string, GrownStep>

/** The ids that steps may refer to. Kinds without an id are not used. */
export type GraphIds = { campaigns: number[]; lists: number[]; staticLists: number[]; subscriptions: number[]; journeys: number[] }

export const NO_IDS: GraphIds = { campaigns: [], lists: [], staticLists: [], subscriptions: [], journeys: [] }

/** Picks an integer from 0 up to but not including a limit. */
export type Pick = (below: number) => number

const STEPS_MAX = 30
export const EVENT_NAMES = ['cart', 'purchase', 'login']
const DEFAULT = 'default'
const PRO = { attribute: 'data.plan', is: 'pro' }
const BIG = [{ attribute: 'data.total', greater_than: 50 }]

const of = <T>(pick: Pick, values: readonly T[]): T => values[pick(values.length)] as T
const maybe = (pick: Pick, members: Record<string, unknown>) => (pick(2) === 0 ? members : {})

/** A kind that can be grown: its settings, and its paths with those that need a child if any has one. */
type Grown = { data: Record<string, unknown>; required: string[]; optional: string[] }
type Grow = (pick: Pick, ids: GraphIds) => Grown | null

const KINDS: Record<string, Grow> = {
  delay: (pick) => {
    const data = of(pick, [
      { format: 'duration', minutes: 1 + pick(120) },
      { format: 'duration', days: pick(3), hours: 1 + pick(24) },
      { format: 'time', time: of(pick, ['09:00', '02:30', '18:15']), days: pick(2), ...maybe(pick, { weekdays: ['mo', 'we', 'fr'] }) },
      { format: 'date', date: '{{ user.data.renews_at }}', days: pick(3), direction: of(pick, ['before', 'after']), time: '09:00' },
    ])
    return { data, required: [DEFAULT], optional: ['past', 'missing'] }
  },
  wait_until: (pick, { lists }) => {
    const conditions = [
      { path: 'event', event_name: of(pick, EVENT_NAMES), since: of(pick, ['entrance', 'arrival']), ...maybe(pick, { where: BIG }) },
      { path: 'rule', rule: PRO },
      ...(lists.length === 0 ? [] : [{ path: 'list', list_id: of(pick, lists), is: of(pick, ['in', 'not_in', 'entered', 'left']) }]),
    ].slice(pick(2), 2 + pick(2))
    return {
      data: { conditions, timeout: of(pick, ['30m', '12h', '3d']) },
      required: [...conditions.map(({ path }) => path), 'timeout'],
      optional: [],
    }
  },
  gate: (pick) => {
    if (pick(2) === 0) return { data: { rule: PRO }, required: ['yes', 'no'], optional: [] }
    const branches = [
      { path: 'a', where: [{ attribute: 'event.data.total', greater_than: 50 }] },
      { path: 'b', rule: { not: PRO } },
    ]
    return { data: { branches }, required: ['a', 'b', 'else'], optional: [] }
  },
  experiment: (pick) => {
    const branches = ['a', 'b', 'c'].slice(0, 2 + pick(2)).map((path) => ({ path, weight: 1 + pick(5) }))
    return { data: { branches }, required: branches.map(({ path }) => path), optional: [] }
  },
  action: (pick, { campaigns }) =>
    campaigns.length === 0
      ? null
      : {
          data: { campaign_id: of(pick, campaigns), wait: of(pick, ['none', 'sent', 'delivered']), wait_hours: 1 + pick(72) },
          required: [],
          optional: [DEFAULT, 'sent', 'skipped', 'failed', 'bounced'],
        },
  update: (pick) => ({
    data: { attributes: { plan: of(pick, ['pro', 'free']), stage: '{{ event.data.total }}' } },
    required: [],
    optional: [DEFAULT, 'failed'],
  }),
  event: (pick) => ({
    data: { event_name: of(pick, EVENT_NAMES), event_data: { total: pick(100), by: '{{ user.external_id }}' } },
    required: [],
    optional: [DEFAULT, 'failed'],
  }),
  list: (pick, { staticLists }) =>
    staticLists.length === 0
      ? null
      : { data: { list_id: of(pick, staticLists), change: of(pick, ['add', 'remove']) }, required: [], optional: [DEFAULT, 'failed'] },
  subscription: (pick, { subscriptions }) =>
    subscriptions.length === 0
      ? null
      : { data: { subscription_id: of(pick, subscriptions), state: pick(2) }, required: [], optional: [DEFAULT, 'failed'] },
  balancer: (pick) => ({
    data: { rate_limit: 1 + pick(3), rate_interval: of(pick, ['minute', 'hour']), ...maybe(pick, { max_wait_hours: 1 + pick(3) }) },
    required: [DEFAULT],
    optional: ['over_limit'],
  }),
  webhook: () => ({
    data: { url: 'https://example.com/score?user={{ user.external_id }}', body: '{"total":{{ event.data.total }}}', retries: 1 },
    required: [],
    optional: [DEFAULT, 'success', 'failed'],
  }),
  link: (pick, { journeys }) =>
    journeys.length === 0 ? null : { data: { journey_id: of(pick, journeys) }, required: [], optional: [DEFAULT, 'refused'] },
  exit: (pick) => ({ data: maybe(pick, { as: of(pick, ['completed', 'exited']), reason: 'done' }), required: [], optional: [] }),
}

function entranceData(pick: Pick, { lists }: GraphIds): Record<string, unknown> {
  const repeats = of(pick, [
    { multiple: false },
    { multiple: true, concurrent: true },
    { multiple: true, on_repeat: of(pick, ['ignore', 'restart', 'update']), ...maybe(pick, { reenter_after: '1h' }) },
  ])
  const keyed = maybe(pick, { entry_key: 'data.cart' })
  const triggers = [
    { trigger: 'event', event_name: of(pick, EVENT_NAMES), ...maybe(pick, { where: BIG }), ...keyed, ...repeats },
    { trigger: 'api', ...keyed, ...repeats },
    { trigger: 'none', ...repeats },
    ...(lists.length === 0 ? [] : [{ trigger: 'list', list_id: of(pick, lists), change: of(pick, ['entered', 'left']), ...repeats }]),
    ...(lists.length === 0
      ? []
      : [{ trigger: 'schedule', list_id: of(pick, lists), schedule: 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0', multiple: true }]),
  ]
  return { ...of(pick, triggers), ...maybe(pick, { rule: { not: { attribute: 'data.plan', is: 'free' } } }) }
}

const isLongDelay = ({ type, data }: GrownStep) => type === 'delay' && data.format !== 'date'

/** Grows a graph. Entrances and steps are numbered in the order in which they are made. */
function grow(pick: Pick, ids: GraphIds, stepsMax: number): GrownGraph {
  const graph: GrownGraph = {}
  const open: { key: string; required: string[]; optional: string[] }[] = []
  const add = (type: string, { data, required, optional }: Grown): string => {
    const key = `${type}-${Object.keys(graph).length}`
    graph[key] = { type, x: 0, y: Object.keys(graph).length * 100, data, children: [] }
    open.push({ key, required, optional })
    return key
  }
  const left = () => stepsMax - Object.keys(graph).length
  const addAny = (): string => {
    const types = Object.keys(KINDS)
    for (;;) {
      const type = of(pick, types)
      const grown = KINDS[type]?.(pick, ids)
      if (grown) return add(type, grown)
    }
  }
  for (let entrances = 1 + pick(3); entrances > 0; entrances--)
    add('entrance', { data: entranceData(pick, ids), required: [DEFAULT], optional: [] })
  for (let step = open.shift(); step !== undefined; step = open.shift()) {
    const { key, required, optional } = step
    const paths = [...required, ...optional.filter(() => pick(2) === 0)]
    const order = Object.keys(graph)
    const later = order.slice(order.indexOf(key) + 1).filter((name) => graph[name]?.type !== 'entrance')
    const earlier = order.slice(0, order.indexOf(key)).filter((name) => graph[name]?.type !== 'entrance')
    // A step ends the journey if there is no room for the steps that its paths need.
    if (left() < paths.length && later.length === 0) continue
    const self = graph[key] as GrownStep
    for (const path of paths) {
      const isBack = isLongDelay(self) && path === DEFAULT && earlier.length > 0 && pick(4) === 0
      const target = isBack ? of(pick, earlier) : later.length > 0 && (left() === 0 || pick(4) === 0) ? of(pick, later) : addAny()
      self.children.push(path === DEFAULT ? { external_id: target } : { external_id: target, path })
    }
  }
  if (pick(2) === 0) add('exit', { data: { as: 'exited', when: [{ event_name: 'purchase' }, { rule: PRO }] }, required: [], optional: [] })
  return graph
}

const NUMBERS_MAX = 2 ** 31 - 1

/** A pick that repeats for the same numbers; infinitely many. */
export const picks: fc.Arbitrary<Pick> = fc
  .infiniteStream(fc.nat(NUMBERS_MAX))
  .map((stream) => (below: number) => (stream.next().value as number) % below)

/** Graphs that can be published, of up to 30 steps. Links are to journeys of `ids`, which must not link back at once. */
export const publishableGraphs = (ids: GraphIds = NO_IDS, stepsMax = STEPS_MAX): fc.Arbitrary<GrownGraph> =>
  picks.map((pick) => grow(pick, ids, stepsMax))

/** A broken graph: when it is refused, and the steps of which a fault must name one. */
export type Broken = { graph: GrownGraph; when: 'stored' | 'published'; named: string[] }

type Break = (graph: GrownGraph, pick: Pick) => Broken | null

/** A copy of a graph with one step that is chosen and changed; null if none fits. */
function changed(
  when: Broken['when'],
  fits: (step: GrownStep, key: string) => boolean,
  change: (step: GrownStep, key: string, graph: GrownGraph) => void,
): Break {
  return (graph, pick) => {
    const keys = Object.keys(graph).filter((key) => fits(graph[key] as GrownStep, key))
    if (keys.length === 0) return null
    const key = of(pick, keys)
    const copy = structuredClone(graph)
    change(copy[key] as GrownStep, key, copy)
    return { graph: copy, when, named: [key] }
  }
}

const isCriterion = ({ data }: GrownStep) => data.when !== undefined
const NEEDED: Record<string, string> = {
  delay: 'format',
  wait_until: 'timeout',
  experiment: 'branches',
  action: 'campaign_id',
  update: 'attributes',
  event: 'event_name',
  list: 'list_id',
  subscription: 'subscription_id',
  balancer: 'rate_limit',
  webhook: 'url',
  link: 'journey_id',
}
const REQUIRES_ALL = ['gate', 'experiment', 'wait_until']

/** Ways to break a graph, by name. */
export const BREAKS: Record<string, Break> = {
  'a child that does not exist': changed(
    'stored',
    ({ children }) => children.length > 0,
    ({ children }) => {
      ;(children[0] as GrownStep['children'][number]).external_id = 'nowhere'
    },
  ),
  'a step that leads to itself': changed(
    'stored',
    ({ children }) => children.length > 0,
    ({ children }, key) => {
      ;(children[0] as GrownStep['children'][number]).external_id = key
    },
  ),
  'settings of the wrong shape': changed(
    'stored',
    () => true,
    ({ data }) => {
      data.unknown_setting = 1
    },
  ),
  'a missing setting': changed(
    'published',
    ({ type, data }) => NEEDED[type] !== undefined && (type !== 'delay' || data.format === 'date'),
    (step) => {
      if (step.type === 'delay') step.data = { format: 'date' }
      else delete step.data[NEEDED[step.type] as string]
    },
  ),
  'a rule that is none': changed(
    'published',
    ({ type, data }) => type === 'gate' && data.rule !== undefined,
    ({ data }) => {
      data.rule = { attribute: 'data.plan', is: 'pro', other: true }
    },
  ),
  'a path that the kind lacks': changed(
    'published',
    ({ children }) => children.length > 0,
    ({ children }) => {
      ;(children[0] as GrownStep['children'][number]).path = 'sideways'
    },
  ),
  'two children on one path': changed(
    'published',
    ({ children }) => children.length > 0,
    ({ children }) => {
      children.push({ ...(children[0] as GrownStep['children'][number]) })
    },
  ),
  'an open required path': changed(
    'published',
    ({ type, children }) => REQUIRES_ALL.includes(type) && children.length > 1,
    ({ children }) => {
      children.pop()
    },
  ),
  'a step that no entrance leads to': (graph) => ({
    graph: { ...graph, lonely: { type: 'exit', x: 0, y: 0, data: {}, children: [] } },
    when: 'published',
    named: ['lonely'],
  }),
  'a way to an exit criterion': (graph, pick) => {
    const to = Object.keys(graph).find((key) => isCriterion(graph[key] as GrownStep))
    if (to === undefined) return null
    return changed(
      'published',
      ({ children }) => children.length > 0,
      ({ children }) => {
        ;(children[0] as GrownStep['children'][number]).external_id = to
      },
    )(graph, pick)
  },
  'a loop without a delay': (graph, pick) => {
    const edges = Object.entries(graph).flatMap(([from, { type, children }]) =>
      type === 'delay' ? [] : children.map(({ external_id: to }) => ({ from, to })),
    )
    const open = edges.filter(({ to }) => graph[to]?.type === 'update' && graph[to].children.every(({ path }) => path !== 'failed'))
    if (open.length === 0) return null
    const { from, to } = of(pick, open)
    const copy = structuredClone(graph)
    copy[to]?.children.push({ external_id: from, path: 'failed' })
    return { graph: copy, when: 'stored', named: [from, to] }
  },
  'a loop through a delay that is too short': (graph) => ({
    graph: {
      ...graph,
      'loop-start': { type: 'entrance', x: 0, y: 0, data: { trigger: 'none' }, children: [{ external_id: 'loop-gate' }] },
      'loop-gate': { type: 'update', x: 0, y: 0, data: { attributes: { a: 1 } }, children: [{ external_id: 'loop-delay' }] },
      'loop-delay': { type: 'delay', x: 0, y: 0, data: { format: 'duration', days: 0 }, children: [{ external_id: 'loop-gate' }] },
    },
    when: 'published',
    named: ['loop-gate', 'loop-delay'],
  }),
  'eleven entrances': (graph) => {
    const more = Array.from({ length: 11 }, (_, at) => [
      `start-${at}`,
      { type: 'entrance', x: 0, y: 0, data: { trigger: 'none' }, children: [] },
    ])
    const all: GrownGraph = { ...graph, ...Object.fromEntries(more) }
    return { graph: all, when: 'published', named: Object.keys(all).filter((key) => key.startsWith('start-')) }
  },
}
