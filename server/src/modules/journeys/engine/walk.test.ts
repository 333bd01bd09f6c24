/** What a wave does, with a world in memory in which nothing follows from effects. */
import { describe, expect, test } from 'vitest'
import { enterWith, event, graphWith, JOURNEY, occasion, openRound, runOf, step, USER } from '../../../../test/journey-round.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import type { Graph } from './graph.ts'
import { keyHash } from './ids.ts'
import { activeOf, deltaOf, type Run } from './run.ts'
import { applyWave } from './walk.ts'

const wait = step('wait', 'delay', { format: 'duration', minutes: 5 })
const cart = (settings: object = {}) => graphWith({ trigger: 'event', event_name: 'cart', ...settings }, wait)
const carts = (...keys: string[]) => occasion(...keys.map((key) => event('cart', { key, data: { cart: key } })))

/** What was counted, with its reason. */
const counted = ({ counts }: Run, what: string) =>
  [...counts.values()].filter((one) => one.what === what).map(({ reason, users }) => [reason, users])

test('a wave counts its rounds and its decisions', async () => {
  const run = runOf([cart()])
  await applyWave(run, [carts('1-0')])
  // The entrance, and the step after it.
  expect([run.rounds, run.decisions]).toEqual([2, 2])
  await applyWave(run, [])
  expect([run.rounds, run.decisions]).toEqual([2, 2])
})

test('a user enters once for each fact, as often a day as the journey allows', async () => {
  const graph: Graph = { ...cart({ multiple: true, concurrent: true }), settings: { max_entries_per_day: 2 } }
  const run = runOf([graph])
  await applyWave(run, [carts('1-0', '2-0', '2-0', '3-0')])
  expect(activeOf(run, USER)).toHaveLength(2)
  expect(deltaOf(run, USER, JOURNEY)).toMatchObject({ entered: 2, active: 2, completed: 0, exited: 0 })
  expect(counted(run, 'refused')).toEqual([['daily_maximum', 1]])
})

test('a user who is held out is counted once', async () => {
  const run = runOf([{ ...cart({ multiple: true }), settings: { holdout_percent: 100 } }])
  await applyWave(run, [carts('1-0', '2-0')])
  expect([counted(run, 'held_out'), counted(run, 'refused')]).toEqual([[[null, 1]], []])
  expect([...run.refusals.values()]).toMatchObject([{ journey_id: JOURNEY, reason: 'held_out', users: 2 }])
  expect(deltaOf(run, USER, JOURNEY)).toMatchObject({ entered: 0, held_out_at: carts().at })
})

test('an entry key is kept where a user enters once with each, and not where they enter again', async () => {
  const keysOf = async (multiple: boolean) => {
    const run = runOf([cart({ entry_key: 'data.cart', multiple })])
    await applyWave(run, [carts('1-0', '2-0')])
    return [...run.keys.values()].map(({ key_hash }) => key_hash)
  }
  expect(await keysOf(false)).toEqual([keyHash('1-0'), keyHash('2-0')])
  expect(await keysOf(true)).toEqual([])
})

describe('a user who continues in another journey', () => {
  const OTHER = (JOURNEY + 1) as JourneyId
  const delay = { format: 'duration', minutes: 5 }
  const continues = () =>
    enterWith(
      openRound(),
      step('wait', 'delay', delay, ['default', 'go']),
      step('go', 'link', { journey_id: OTHER }, ['default', 'stay'], ['refused', 'stay']),
      step('stay', 'delay', delay),
    )
  const skip = { ...occasion(), items: [{ do: 'skip' as const, journey_id: JOURNEY }] as never }

  test('enters it, one link further from the first cause', async () => {
    const run = runOf([{ ...cart(), journeyId: OTHER }], continues())
    await applyWave(run, [skip])
    expect(activeOf(run, USER).map(({ journeyId, step, depth }) => [journeyId, step.key, depth])).toEqual([
      [JOURNEY, 'stay', 0],
      [OTHER, 'wait', 1],
    ])
    expect(counted(run, 'left')).toContainEqual(['entered', 1])
  })

  test('goes on with the reason if that one is not live', async () => {
    const run = runOf([], continues())
    await applyWave(run, [skip])
    expect(activeOf(run, USER).map(({ step }) => step.key)).toEqual(['stay'])
    expect(counted(run, 'left')).toContainEqual(['not_live', 1])
  })
})
