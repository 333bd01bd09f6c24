import { expect, test } from 'vitest'
import { enterWith, now, openRound, step } from '../../../../test/journey-round.ts'
import type { Input } from '../steps/step.ts'
import { advance, jump, type Round } from './advance.ts'
import type { Entrance } from './entrance.ts'
import type { CompiledStep } from './graph.ts'

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

test.each([
  ['fails', [came('bought')]],
  ['comes after a fact that fails', [{ is: 'changed', what: [] }, came('bought')]],
] as [string, Input[]][])('an event whose decision %s counts when the decision is made again', (_, inputs) => {
  const round = openRound()
  const rule = { attribute: 'data.plan', is: 'pro' }
  const conditions = [
    { path: 'ruled', rule },
    { path: 'came', event_name: 'bought' },
  ]
  const wait = step('wait', 'wait_until', { conditions, timeout: '3d' }, ['ruled', 'out'], ['came', 'out'])
  const entrance = enterWith(round, wait, step('out', 'exit', {}))
  const broken = () => {
    throw new Error('broken')
  }
  advance({ ...round, loaded: { ...round.loaded, rule: broken }, onFailure: () => undefined }, [{ entrance, inputs, at: now }])
  expect(entrance).toMatchObject({ parked: `${inputs[0]?.is}: broken`, visit: 2 })
  advance(round, [{ entrance, inputs: [{ is: 'arrived' }], at: now }])
  expect(leftBy(round, entrance, 'wait')).toEqual([['came', 'event', 1]])
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

test('a user who is moved has left the step, with the reason', () => {
  const round = openRound()
  const wait = { format: 'duration', minutes: 5 }
  const entrance = enterWith(round, step('a', 'delay', wait, ['default', 'b']), step('b', 'delay', wait))
  const next = jump(round, entrance, entrance.graph.steps.get('b') as CompiledStep, 'moved', now)
  expect(leftBy(round, entrance, 'a')).toEqual([[null, 'moved', 1]])
  expect([entrance.step.key, next]).toEqual(['b', [{ entrance, inputs: [{ is: 'arrived' }], at: now }]])
})
