import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BREAKS, type GrownGraph, picks, publishableGraphs } from '../../../test/journey-graphs.ts'
import { seedFrom } from '../../../test/random.ts'
import type { JourneyId } from '../../lib/ids.ts'
import { readGraph } from './graph.ts'
import { linkFaults, linksOf, publishFaults, publishWarnings } from './publishable.ts'
import * as kinds from './steps/index.ts'
import type { StepKind } from './steps/step.ts'

const IDS = { campaigns: [7, 8], lists: [12], staticLists: [13], subscriptions: [3], journeys: [5] }
const seed = seedFrom('GRAPHS_SEED')

const step = (type: string, data: object, ...children: (string | [path: string, key: string])[]) => ({
  type,
  x: 0,
  y: 0,
  data,
  children: children.map((child) => (typeof child === 'string' ? { external_id: child } : { path: child[0], external_id: child[1] })),
})
const start = (...children: string[]) => step('entrance', { trigger: 'none' }, ...children)
const set = (...children: (string | [string, string])[]) => step('update', { attributes: { a: 1 } }, ...children)
const hour = (...children: string[]) => step('delay', { hours: 1 }, ...children)

/** The steps of a graph that can be stored. */
function stored(map: Record<string, unknown>) {
  const { steps, faults } = readGraph(map)
  expect(faults).toEqual([])
  return steps
}

const paramsOf = (map: Record<string, unknown>) => publishFaults(stored(map)).map(({ param }) => param)

test('of more Liquid than can be parsed in a moment, nothing is parsed: the step is named at which it is too much', () => {
  // Each is not closed, which parsing would find.
  const webhook = (...to: string[]) => step('webhook', { url: 'https://example.com', body: `{% if a %}${'{{a}}'.repeat(1400)}` }, ...to)
  const paramsOfFirst = (count: number) => {
    const names = Array.from({ length: count }, (_, at) => `w${at}`)
    return paramsOf(Object.fromEntries([['a', start('w0')], ...names.map((name, at) => [name, webhook(...names.slice(at + 1, at + 2))])]))
  }
  expect(paramsOfFirst(2)).toEqual(expect.arrayContaining(['w0.data.body', 'w1.data.body']))
  expect(paramsOfFirst(4)).toEqual(['w2.data'])
})

describe('a graph that is grown to be publishable', () => {
  test('can be published', () => {
    fc.assert(
      fc.property(publishableGraphs(IDS), (graph) => {
        expect(paramsOf(graph)).toEqual([])
      }),
      { seed, numRuns: 300 },
    )
  })

  test('uses every kind of step, and loops', () => {
    const types = new Set(
      fc.sample(publishableGraphs(IDS), { seed, numRuns: 100 }).flatMap((graph) => Object.values(graph).map(({ type }) => type)),
    )
    expect([...types].sort()).toEqual(Object.keys(kinds).sort())
    const isLoop = (graph: GrownGraph) => {
      const order = Object.keys(graph)
      return order.some((from, at) => graph[from]?.children.some(({ external_id }) => order.indexOf(external_id) < at))
    }
    expect(fc.sample(publishableGraphs(IDS), { seed, numRuns: 100 }).some(isLoop)).toBe(true)
  })

  test.each(Object.entries(BREAKS))('is refused with %s, and the step is named', (_, broken) => {
    let tried = 0
    fc.assert(
      fc.property(publishableGraphs(IDS), picks, (graph, pick) => {
        const made = broken(graph, pick)
        if (made === null) return
        tried++
        const { faults, steps } = readGraph(made.graph)
        const found = made.when === 'stored' ? faults : [...faults, ...publishFaults(steps)]
        if (made.when === 'published') expect(faults).toEqual([])
        const names = found.map(({ param = '' }) => param.split('.')[0])
        expect(names.filter((name) => made.named.includes(name as string))).not.toEqual([])
        for (const fault of found) expect(fault.message).not.toContain('undefined')
      }),
      { seed, numRuns: 100 },
    )
    expect(tried).toBeGreaterThan(20)
  })
})

describe('a graph cannot be published with', () => {
  test.each<[string, Record<string, unknown>, string[]]>([
    [
      'a child without a path on a gate',
      { a: start('b'), b: step('gate', { rule: { list: 1 } }, 'c'), c: set() },
      ['b.children[0].path', 'b.children', 'b.children'],
    ],
    ['an exit that leads on', { a: start('b'), b: step('exit', {}, 'c'), c: set() }, ['b.children[0].path']],
    [
      'two children on a path, one of them without a name',
      { a: start('b'), b: set('c', ['default', 'd']), c: set(), d: set() },
      ['b.children[1].path'],
    ],
    [
      'an open required path beside another',
      { a: start('b'), b: step('balancer', { rate_limit: 1, rate_interval: 'day' }, ['over_limit', 'c']), c: set() },
      ['b.children'],
    ],
    [
      'a path of a branch that has another name',
      {
        a: start('b'),
        b: step(
          'experiment',
          {
            branches: [
              { path: 'x', weight: 1 },
              { path: 'y', weight: 1 },
            ],
          },
          ['x', 'c'],
          ['z', 'c'],
        ),
        c: set(),
      },
      ['b.children[1].path', 'b.children'],
    ],
    ['steps that no entrance leads to', { a: start('b'), b: set(), c: set('d'), d: set() }, ['c', 'd']],
    ['a way to an exit criterion', { a: start('b'), b: step('exit', { when: [{ event_name: 'x' }] }) }, ['a.children[0].external_id']],
    [
      'a loop through a delay of no time',
      { a: start('b'), b: set('c'), c: step('delay', { minutes: 0 }, 'b') },
      ['c.children[0].external_id'],
    ],
    [
      'a loop through a date',
      { a: start('b'), b: set('c'), c: step('delay', { format: 'date', date: '2026-12-01' }, 'b') },
      ['c.children[0].external_id'],
    ],
    [
      'several faults',
      { a: start('b'), b: step('delay', {}, 'c'), c: step('action', {}, ['x', 'd']), d: set() },
      ['b.data.days', 'c.data.campaign_id', 'c.children[0].path'],
    ],
  ])('%s', (_, map, params) => expect(paramsOf(map)).toEqual(params))

  test('a fault of another code than the others', () => {
    const faults = publishFaults(stored({ a: start('b'), b: step('gate', { rule: {} }), c: set() }))
    expect(new Set(faults.map(({ code }) => code))).toEqual(new Set(['validation_failed']))
  })
})

test.each<[string, Record<string, unknown>]>([
  ['no entrance', { b: set('c'), c: set() }],
  ['an exit criterion that nothing leads to', { a: start('b'), b: set(), out: step('exit', { when: [{ event_name: 'x' }] }) }],
  ['a step without children', { a: start('b'), b: step('gate', { rule: { list: 1 } }) }],
  ['a loop through a delay of a minute', { a: start('b'), b: set('c'), c: step('delay', { minutes: 1 }, 'b') }],
  ['a loop through a time of day', { a: start('b'), b: set('c'), c: step('delay', { format: 'time', time: '09:00' }, 'b') }],
  ['an open optional path', { a: start('b'), b: set(['failed', 'c']), c: set() }],
])('%s can be published', (_, map) => expect(paramsOf(map)).toEqual([]))

test('a step that ends the journey without an exit is worth a warning', () => {
  const steps = stored({ a: start('b'), b: set(), out: step('exit', { when: [{ event_name: 'x' }] }), l: step('link', { journey_id: 5 }) })
  expect(publishWarnings(steps).map(({ param }) => param)).toEqual(['b.children'])
})

describe('links', () => {
  const ONE = 1 as JourneyId
  const link = (journey_id: number, ...more: [data?: object, ...children: string[]]) =>
    step('link', { journey_id, ...more[0] }, ...(more.slice(1) as string[]))
  /** The params of links of the journey 1 that lead back, with the graphs of the others. */
  const faultsOf = (own: object, others: Record<number, object> = {}) =>
    linkFaults(ONE, stored({ ...own }), (id) => linksOf(others[id] ? stored({ ...others[id] }) : [])).map(({ param }) => param)

  test.each<[string, object, Record<number, object>, string[]]>([
    ['to itself', { a: start('l'), l: link(1) }, {}, ['l.data.journey_id']],
    ['to itself after a delay', { a: start('d'), d: hour('l'), l: link(1) }, {}, []],
    ['to itself after a delay of no time', { a: start('d'), d: step('delay', { days: 0 }, 'l'), l: link(1) }, {}, ['l.data.journey_id']],
    ['to another journey', { a: start('l'), l: link(2) }, { 2: { a: start('b'), b: set() } }, []],
    ['in a circle of two', { a: start('l'), l: link(2) }, { 2: { a: start('l'), l: link(1) } }, ['l.data.journey_id']],
    [
      'in a circle of three',
      { a: start('l'), l: link(2) },
      { 2: { a: start('l'), l: link(3) }, 3: { a: start('l'), l: link(1) } },
      ['l.data.journey_id'],
    ],
    ['in a circle with a delay', { a: start('l'), l: link(2) }, { 2: { a: start('d'), d: hour('l'), l: link(1) } }, []],
    ['to a circle of others', { a: start('l'), l: link(2) }, { 2: { a: start('l'), l: link(3) }, 3: { a: start('l'), l: link(2) } }, []],
    [
      'back to an entrance that does not lead to it',
      { a: start('l'), b: start('s'), s: set(), l: link(2) },
      { 2: { a: start('l'), l: link(1, { entrance: 'b' }) } },
      [],
    ],
    [
      'back to an entrance that leads to it',
      { a: start('l'), b: start('s'), s: set(), l: link(2) },
      { 2: { a: start('l'), l: link(1, { entrance: 'a' }) } },
      ['l.data.journey_id'],
    ],
    ['after another link', { a: start('k'), k: link(3, {}, 'l'), l: link(1) }, {}, ['l.data.journey_id']],
    ['that no entrance leads to', { a: start('b'), b: set(), l: link(1) }, {}, []],
  ])('%s', (_, own, others, params) => expect(faultsOf(own, others)).toEqual(params))
})

describe('the settings of a step cannot be published:', () => {
  const pro = { attribute: 'data.plan', is: 'pro' }
  const branch = (path: string, weight = 1) => ({ path, weight })
  test.each<[type: string, data: object, params: string[]]>([
    ['entrance', {}, ['trigger']],
    ['entrance', { trigger: 'event' }, ['event_name']],
    ['entrance', { trigger: 'event', event_name: 'list_entered' }, ['event_name']],
    ['entrance', { trigger: 'event', event_name: 'email_sent' }, ['event_name']],
    ['entrance', { trigger: 'list' }, ['list_id']],
    ['entrance', { trigger: 'schedule' }, ['schedule', 'list_id']],
    ['entrance', { trigger: 'schedule', list_id: 1, schedule: 'FREQ=SECONDLY' }, ['schedule']],
    ['entrance', { trigger: 'list', list_id: 1, where: [{ attribute: 'data.a', is: 1 }] }, ['where']],
    ['entrance', { trigger: 'event', event_name: 'x', where: [{ attribute: 'plan', is: 1 }] }, ['where[0].attribute']],
    ['entrance', { trigger: 'none', rule: { list: 'x' } }, ['rule.list']],
    ['entrance', { trigger: 'api', entry_key: 'cart_id' }, ['entry_key']],
    ['entrance', { trigger: 'list', list_id: 1, entry_key: 'data.cart_id' }, ['entry_key']],
    ['entrance', { trigger: 'schedule', list_id: 1, schedule: 'FREQ=DAILY', entry_key: 'data.cart_id' }, ['entry_key']],
    ['entrance', { trigger: 'api', reenter_after: '20y' }, ['reenter_after']],
    ['entrance', { trigger: 'api', on_repeat: 'restart' }, ['on_repeat']],
    ['entrance', { trigger: 'api', on_repeat: 'update', multiple: true, concurrent: true }, ['on_repeat']],
    ['delay', {}, ['days']],
    ['delay', { format: 'time' }, ['time']],
    ['delay', { format: 'date' }, ['date']],
    ['delay', { format: 'date', date: 'soon' }, ['date']],
    ['delay', { format: 'date', date: '{{ user.data.x | nope }}' }, ['date']],
    ['delay', { days: 1, weekdays: ['mo'] }, ['weekdays']],
    ['delay', { days: 1, direction: 'before' }, ['direction']],
    ['wait_until', {}, ['timeout', 'conditions']],
    ['wait_until', { conditions: [{ path: 'a' }], timeout: '1d' }, ['conditions[0]']],
    ['wait_until', { conditions: [{ path: 'a', event_name: 'x', rule: pro }], timeout: '1d' }, ['conditions[0]']],
    ['wait_until', { conditions: [{ path: 'a', rule: pro, where: [] }], timeout: '1d' }, ['conditions[0].where']],
    ['wait_until', { conditions: [{ path: 'a', rule: pro, since: 'arrival' }], timeout: '1d' }, ['conditions[0].since']],
    ['wait_until', { conditions: [{ path: 'a', rule: pro, is: 'in' }], timeout: '1d' }, ['conditions[0].is']],
    ['wait_until', { conditions: [{ path: 'timeout', rule: pro }], timeout: '1d' }, ['conditions[0].path']],
    [
      'wait_until',
      {
        conditions: [
          { path: 'a', rule: pro },
          { path: 'a', rule: pro },
        ],
        timeout: '401d',
      },
      ['conditions[1].path', 'timeout'],
    ],
    ['gate', {}, ['rule']],
    ['gate', { rule: { not: 1 } }, ['rule.not']],
    ['gate', { rule: pro, branches: [] }, ['rule']],
    ['gate', { branches: [{ path: 'a', rule: pro }] }, ['branches']],
    ['gate', { branches: [{ path: 'a', rule: pro }, { path: 'else' }] }, ['branches[1].path', 'branches[1]']],
    [
      'gate',
      {
        branches: [
          { path: 'a', where: [{ attribute: 'data.x', is: 1 }] },
          { path: 'b', rule: pro },
        ],
      },
      ['branches[0].where[0].attribute'],
    ],
    [
      'gate',
      {
        branches: [
          { path: 'a', where: [{ attribute: 'journey.s.body.x', nope: 1 }] },
          { path: 'b', rule: pro },
        ],
      },
      ['branches[0].where[0].nope'],
    ],
    ['experiment', {}, ['branches']],
    ['experiment', { branches: [] }, ['branches']],
    ['action', {}, ['campaign_id']],
    ['update', {}, ['attributes']],
    ['update', { attributes: { a: ['{{ x | nope }}'] } }, ['attributes.a[0]']],
    ['event', {}, ['event_name']],
    ['event', { event_name: 'x', event_data: { 'a.b': '{% if %}' } }, ['event_data.a\\.b']],
    ['list', {}, ['list_id']],
    ['subscription', {}, ['subscription_id', 'state']],
    ['balancer', {}, ['rate_limit', 'rate_interval']],
    ['webhook', {}, ['url']],
    ['webhook', { url: 'ftp://example.com' }, ['url']],
    ['webhook', { url: 'https://{{ user.data.host }}/x' }, ['url']],
    ['webhook', { url: 'https://example.com/{{ x | nope }}' }, ['url']],
    ['webhook', { url: 'https://example.com', headers: { Host: 'x', 'a b': 'y' } }, ['headers', 'headers']],
    ['webhook', { url: 'https://example.com', headers: { 'X-A': '{{ x | nope }}' }, body: '{% nope %}' }, ['headers.X-A', 'body']],
    ['link', {}, ['journey_id']],
    ['exit', { when: [{}] }, ['when[0]']],
    ['exit', { when: [{ event_name: 'x', list_id: 1 }] }, ['when[0]']],
    [
      'exit',
      {
        when: [
          { list_id: 1, where: [] },
          { rule: pro, change: 'left' },
        ],
      },
      ['when[0].where', 'when[1].change'],
    ],
    ['exit', { when: [{ rule: {} }] }, ['when[0].rule']],
  ])('%s %j', (type, data, params) => {
    // They can be stored, because a draft may be incomplete.
    const { steps, faults } = readGraph({ one: { type, x: 0, y: 0, data } })
    expect(faults).toEqual([])
    const found = publishFaults(steps).filter(({ param }) => param?.includes('.data.'))
    expect(found.map(({ param }) => param)).toEqual(params.map((param) => `one.data.${param}`))
    for (const { param, message } of found) expect(message, param).toMatch(/^[A-Z`].*\.$/)
  })

  test.each<[type: string, data: object, param: string]>([
    ['experiment', { branches: [branch('a')] }, 'branches'],
    ['experiment', { branches: [branch('a', 0), branch('b', 0)] }, 'branches'],
    ['experiment', { branches: [branch('a'), branch('a')] }, 'branches[1].path'],
    ['event', { event_name: 'email_sent' }, 'event_name'],
    ['event', { event_name: 'user_created' }, 'event_name'],
  ])('%s %j, nor stored', (type, data, param) => {
    const { faults } = readGraph({ one: { type, x: 0, y: 0, data } })
    expect(faults).toMatchObject([{ code: 'validation_failed', param: `one.data.${param}` }])
    expect(faults[0]?.message).not.toContain('`branches[')
  })

  test('every kind is in the table', () => {
    const registry = kinds as Record<string, StepKind>
    expect(Object.entries(registry).filter(([, { faults }]) => faults === undefined)).toEqual([])
  })
})
