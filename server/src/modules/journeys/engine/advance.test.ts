import { expect, test } from 'vitest'
import { caseContext } from '../../../../test/journey-context.ts'
import type { JourneyId, UserId } from '../../../lib/ids.ts'
import type { Step } from '../schema.ts'
import type { Input } from '../steps/step.ts'
import { advance, type Round } from './advance.ts'
import { type Entrance, enter } from './entrance.ts'
import { compileGraph } from './graph.ts'

const { user, now, zone } = caseContext({})
const USER = user.id as UserId
const JOURNEY = 11 as JourneyId

const step = (external_id: string, type: Step['type'], data: object, ...paths: [path: string, to: string][]): Step => ({
  external_id,
  name: external_id,
  type,
  x: 0,
  y: 0,
  data: data as never,
  children: paths.map(([path, to]) => ({ external_id: to, path })),
})

const openRound = (): Round => ({
  counts: new Map(),
  loaded: {
    user: () => user,
    rule: () => ({ holds: false, nextChangeAt: null, seen: {} }),
    isIn: () => false,
    rendered: (_, { settings }, param) => ({ text: String(settings[param]) }),
    zone,
  },
  isHeld: () => false,
  onFailure: (_, error) => {
    throw error
  },
  onArm: () => undefined,
})

/** A user who has entered, and is led on until something has to happen. */
function enterWith(round: Round, ...steps: Step[]): Entrance {
  const all = [step('start', 'entrance', { trigger: 'none' }, ['default', steps[0]?.external_id ?? '']), ...steps]
  const ids = new Map(all.map(({ external_id }, at) => [external_id, at]))
  const graph = compileGraph({ journeyId: JOURNEY, version: 1, steps: all, settings: {}, ids })
  const [first] = graph.entrances
  if (!first) throw new Error('The graph has no entrance.')
  const entrance = enter(graph, USER, { entrance: first, id: 1, slot: '', key: null, cause: 'api:1', depth: 0 }, null, now)
  for (let tasks = [{ entrance, inputs: [{ is: 'arrived' } as Input], at: now }]; tasks.length > 0; ) tasks = advance(round, tasks).next
  return entrance
}

/** What was counted as leaving a step: its path and the reason. */
const leftBy = ({ counts }: Round, { graph }: Entrance, key: string) =>
  [...counts.values()]
    .filter(({ what, step_id }) => what === 'left' && step_id === graph.steps.get(key)?.id)
    .map(({ path, reason, users }) => [path, reason, users])

const until = (event_name: string, to: string) => [{ conditions: [{ path: 'came', event_name }], timeout: '3d' }, ['came', to]] as const
const came = (name: string): Input => ({ is: 'event', name, data: {}, createdAt: now })

test('after a user has moved on, the other inputs of the item do not count', () => {
  const round = openRound()
  const [first, second] = [until('opened', 'second'), until('clicked', 'out')]
  const entrance = enterWith(
    round,
    step('first', 'wait_until', first[0], [...first[1]]),
    step('second', 'wait_until', second[0], [...second[1]]),
    step('out', 'exit', {}),
  )
  const { next } = advance(round, [{ entrance, inputs: [came('opened'), came('clicked')], at: now }])
  expect([entrance.step.key, entrance.outcome]).toEqual(['second', null])
  expect(next).toEqual([{ entrance, inputs: [{ is: 'arrived' }], at: now }])
})

test('a user who leaves by a path that ends the entrance has left the step once', () => {
  const round = openRound()
  const date = { format: 'date', date: 'no date' }
  const exited = enterWith(round, step('wait', 'delay', date, ['default', 'out']), step('out', 'exit', {}))
  expect(exited.outcome).toEqual({ as: 'exited', reason: 'date_missing', at: now })
  expect(leftBy(round, exited, 'wait')).toEqual([['missing', 'date_missing', 1]])

  const again = openRound()
  const completed = enterWith(again, step('last', 'delay', { format: 'duration', minutes: 0 }))
  expect(completed.outcome).toEqual({ as: 'completed', reason: 'completed', at: now })
  expect(leftBy(again, completed, 'last')).toEqual([['default', 'elapsed', 1]])
})

test('a user at a step that fails stays there, with the reason, until the decision is made again a minute later', () => {
  const round = openRound()
  const failures: unknown[] = []
  const failing = {
    ...round,
    loaded: {
      ...round.loaded,
      user: () => {
        throw new Error('broken')
      },
    },
    onFailure: (_: Entrance, error: unknown) => void failures.push(error),
  }
  const entrance = enterWith(failing, step('out', 'exit', {}))
  expect(failures).toEqual([new Error('broken')])
  expect(entrance).toMatchObject({ parked: 'arrived: broken', outcome: null, visit: 1, dueAt: new Date(now.getTime() + 60_000) })
  advance(round, [{ entrance, inputs: [{ is: 'arrived' }], at: now }])
  expect(entrance).toMatchObject({ parked: null, visit: 2 })
})

test('a user who is led in a circle exits after 100 visits, and has left each step once', () => {
  const round = openRound()
  const nothing = { format: 'duration', minutes: 0 }
  const entrance = enterWith(round, step('a', 'delay', nothing, ['default', 'b']), step('b', 'delay', nothing, ['default', 'a']))
  expect(entrance.outcome).toMatchObject({ as: 'exited', reason: 'visit_limit' })
  expect(entrance.visit).toBe(100)
  const left = [...leftBy(round, entrance, 'start'), ...leftBy(round, entrance, 'a'), ...leftBy(round, entrance, 'b')]
  expect(left.reduce((sum, [, , users]) => sum + Number(users), 0)).toBe(entrance.visit)
})
