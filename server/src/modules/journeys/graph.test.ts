import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readGraph } from './graph.ts'
import * as kinds from './steps/index.ts'

const step = (type: string, ...children: string[]) => ({ type, x: 0, y: 0, children: children.map((external_id) => ({ external_id })) })
const faultsOf = (map: Record<string, unknown>) => readGraph(map).faults.map(({ code, param }) => [code, param])

test.each(Object.entries(kinds))('the step %s has a label', (_, { label }) => expect(label).not.toBe(''))

test('the example of D-JRN-2 is read, with defaults for missing members', () => {
  const data = { trigger: 'event', event_name: 'order_placed', multiple: false, concurrent: false }
  const { steps, faults } = readGraph({
    start: { type: 'entrance', name: '', x: 0, y: 0, data, children: [{ external_id: 'w1' }] },
    w1: { type: 'delay', x: 0, y: 160, data: { format: 'duration', days: 0, hours: 1, minutes: 0 }, children: [{ external_id: 'send1' }] },
    send1: { type: 'action', x: 0, y: 320, data: { campaign_id: 7 } },
  })
  expect(faults).toEqual([])
  expect(steps.map(({ external_id }) => external_id)).toEqual(['start', 'w1', 'send1'])
  expect(steps[2]).toEqual({ external_id: 'send1', type: 'action', name: '', x: 0, y: 320, data: { campaign_id: 7 }, children: [] })
})

describe('an invalid step', () => {
  test.each<[Record<string, unknown>, string, string]>([
    [{ 'a b': step('exit') }, 'parameter_invalid_format', 'a b'],
    [{ '': step('exit') }, 'parameter_invalid_format', 'body'],
    [{ ['k'.repeat(65)]: step('exit') }, 'parameter_invalid_format', 'k'.repeat(65)],
    [{ a: null }, 'parameter_invalid_format', 'a'],
    [{ a: { x: 0, y: 0 } }, 'parameter_missing', 'a.type'],
    [{ a: { type: 'exit', y: 0 } }, 'parameter_missing', 'a.x'],
    [{ a: step('jump') }, 'parameter_invalid_format', 'a.type'],
    [{ a: { ...step('exit'), z: 1 } }, 'parameter_unknown', 'a.z'],
    [{ a: { ...step('exit'), data: { z: 1 } } }, 'parameter_unknown', 'a.data.z'],
    [{ a: { ...step('delay'), data: { hours: -1 } } }, 'validation_failed', 'a.data.hours'],
    [{ a: { ...step('delay'), data: { time: '24:00' } } }, 'parameter_invalid_format', 'a.data.time'],
    [{ a: { ...step('action'), data: { campaign_id: '7' } } }, 'parameter_invalid_format', 'a.data.campaign_id'],
    [{ a: { ...step('experiment'), data: { branches: [{ path: 'a', weight: -1 }] } } }, 'validation_failed', 'a.data.branches[0].weight'],
    [{ a: { ...step('webhook'), data: { body: 5 } } }, 'parameter_invalid_format', 'a.data.body'],
    [{ a: { ...step('wait_until'), data: { conditions: [{}] } } }, 'parameter_missing', 'a.data.conditions[0].path'],
    [{ a: { ...step('webhook'), data: { headers: { A: { secret: '' } } } } }, 'parameter_invalid_empty', 'a.data.headers.A.secret'],
    [{ a: { ...step('exit'), children: [{}] } }, 'parameter_missing', 'a.children[0].external_id'],
    [{ a: { ...step('exit'), children: [{ external_id: 'b', y: 1 }] } }, 'parameter_unknown', 'a.children[0].y'],
  ])('%j is refused with %s at %s', (map, code, param) => expect(faultsOf(map)).toEqual([[code, param]]))

  test('is named in the message', () => {
    expect(readGraph({ a: { x: 0, y: 0 } }).faults[0]?.message).toContain('`a.type`')
  })
})

describe('a graph is refused for', () => {
  test.each<[string, Record<string, unknown>, string[]]>([
    ['a child that does not exist', { a: step('entrance', 'b', 'c'), c: step('exit') }, ['a.children[0].external_id']],
    ['a child with the name of a prototype member', { a: step('entrance', 'constructor') }, ['a.children[0].external_id']],
    ['a step that leads to itself', { a: step('gate', 'a') }, ['a.children[0].external_id']],
    ['a delay that leads to itself', { a: step('delay', 'a') }, ['a.children[0].external_id']],
    [
      'a loop without a delay',
      { a: step('entrance', 'b'), b: step('gate', 'c', 'd'), c: step('update', 'b'), d: step('exit') },
      ['c.children[0].external_id'],
    ],
    [
      'two loops without a delay',
      { a: step('gate', 'b'), b: step('gate', 'a'), c: step('gate', 'd'), d: step('gate', 'c') },
      ['b.children[0].external_id', 'd.children[0].external_id'],
    ],
  ])('%s', (_, map, params) => expect(faultsOf(map)).toEqual(params.map((param) => ['validation_failed', param])))

  test('too many steps', () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`s${at}`, step('exit')]))
    expect(faultsOf(many(200))).toEqual([])
    expect(faultsOf(many(201))).toEqual([['validation_failed', 'body']])
  })
})

test.each<[string, Record<string, unknown>]>([
  ['a loop through a delay', { a: step('entrance', 'b'), b: step('delay', 'c'), c: step('gate', 'b', 'd'), d: step('exit') }],
  ['a diamond', { a: step('gate', 'b', 'c'), b: step('update', 'd'), c: step('update', 'd'), d: step('exit') }],
  ['two separate parts', { a: step('entrance'), b: step('entrance') }],
  ['no steps', {}],
  ['a key with the name of a prototype member', JSON.parse('{"__proto__":{"type":"exit","x":0,"y":0}}')],
])('%s is accepted', (_, map) => {
  const { steps, faults } = readGraph(map)
  expect(faults).toEqual([])
  expect(steps).toHaveLength(Object.keys(map).length)
})

test('a graph with forward edges only has no loop, and an edge to an ancestor makes exactly one', () => {
  const sizes = fc.integer({ min: 2, max: 30 })
  fc.assert(
    fc.property(sizes, fc.infiniteStream(fc.nat()), (size, stream) => {
      const pick = (below: number) => (stream.next().value as number) % below
      const map = Object.fromEntries(
        Array.from({ length: size }, (_, at) => [
          `s${at}`,
          step('gate', ...(at + 1 < size ? [`s${at + 1}`, `s${at + 1 + pick(size - at - 1)}`] : [])),
        ]),
      )
      expect(readGraph(map).faults).toEqual([])
      const last = size - 1
      expect(readGraph({ ...map, [`s${last}`]: step('gate', `s${pick(last)}`) }).faults).toHaveLength(1)
    }),
  )
})
