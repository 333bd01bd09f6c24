/** What facts do to users who are inside, and who may enter by them. */
import { describe, expect, test } from 'vitest'
import { enterWith, event, graphWith, JOURNEY, occasion, openRound, runOf, step, USER } from '../../../../test/journey-round.ts'
import type { Step } from '../schema.ts'
import { factName } from '../steps/facts.ts'
import { attemptsOf, neededBy } from './entries.ts'
import type { Fact } from './facts.ts'
import { applyItems, checkExits, noteMatches, wake } from './react.ts'

const waitFor = (key: string, event_name: string, to: string): Step =>
  step(key, 'wait_until', { conditions: [{ path: 'came', event_name }], timeout: '3d' }, ['came', to], ['timeout', to])
const out = step('out', 'exit', {})

describe('a user who waits', () => {
  const isWokenBy = (...facts: Fact[]) => {
    const entrance = enterWith(openRound(), waitFor('wait', 'opened', 'out'), out)
    return wake(runOf([], entrance), occasion(...facts)).length > 0
  }

  test.each<[Fact, boolean]>([
    [event('opened'), true],
    [event('clicked'), false],
    [event('opened', { isInherited: true }), false],
    [event('opened', { starts: false }), true],
    [{ is: 'changed', what: [], isNew: true }, true],
    [{ is: 'changed', what: ['data.plan'], isNew: false }, false],
  ])('for an event is woken by %o: %s', (fact, expected) => {
    expect(isWokenBy(fact)).toBe(expected)
  })
})

describe('what came to a user by a merge', () => {
  const inside = () =>
    enterWith(
      openRound(),
      waitFor('first', 'opened', 'second'),
      waitFor('second', 'clicked', 'out'),
      out,
      step('bought', 'exit', { when: [{ event_name: 'purchase' }], reason: 'bought' }),
    )

  test.each([true, false])('meets no exit criterion: inherited %s', (isInherited) => {
    const entrance = inside()
    checkExits(runOf([], entrance), occasion(event('purchase', { isInherited })))
    expect(entrance.outcome?.reason).toBe(isInherited ? undefined : 'bought')
  })

  test.each([true, false])('is not counted by later waits: inherited %s', (isInherited) => {
    const entrance = inside()
    noteMatches(runOf([], entrance), occasion(event('clicked', { isInherited })))
    expect(Object.keys(entrance.seen)).toEqual(isInherited ? [] : [`second:${factName({ event_name: 'clicked' })}`])
  })

  test('only what a later wait is about is counted by it', () => {
    const entrance = inside()
    noteMatches(runOf([], entrance), occasion(event('opened'), { is: 'changed', what: ['data.plan'], isNew: true }))
    expect(entrance.seen).toEqual({})
  })
})

test.each([
  ['is for the visit that it is about', 2, false, 1, []],
  ['counts as stale after that visit', 1, false, 0, ['stale']],
  ['counts as stale while the journey is held', 2, true, 0, ['stale']],
])('what became of a message %s', (_, visit, isHeld, tasks, counted) => {
  const entrance = enterWith(openRound(), waitFor('wait', 'opened', 'out'), out)
  entrance.isHeld = isHeld
  const run = runOf([], entrance)
  const item = { do: 'outcome' as const, journey_id: JOURNEY, visit, state: 'delivered', reason: null }
  expect(applyItems(run, { ...occasion(), items: [item] as never })).toHaveLength(tasks)
  expect([...run.counts.values()].map(({ what }) => what).filter((what) => what === 'stale')).toEqual(counted)
})

describe('a user may enter', () => {
  const graph = graphWith({ trigger: 'event', event_name: 'cart' }, out)

  test.each([true, false])('by an event unless it starts nothing: it starts %s', (starts) => {
    const attempts = attemptsOf(runOf([graph]), occasion(event('cart', { starts })))
    expect(attempts.map(({ fact }) => fact.cause)).toEqual(starts ? ['event:1-0'] : [])
  })

  test('by a request once, whatever became of the entrance: that is looked up, and none of an event', () => {
    const api = graphWith({ trigger: 'api' }, out)
    const run = runOf([api])
    const item = { do: 'enter' as const, journey_id: JOURNEY, cause: 'api:1', entrance: null }
    const attempts = attemptsOf(run, { ...occasion(), items: [item] as never })
    const asked = neededBy(attempts)
    expect(attempts).toMatchObject([{ fact: { is: 'api', depth: 0, data: {} } }])
    const reading = neededBy(attemptsOf(runOf([graph]), occasion(event('cart'))))
    expect(asked.candidates).toMatchObject([{ userId: USER, entranceId: expect.any(Number) }])
    expect(reading.candidates).toMatchObject([{ userId: USER, entranceId: null }])
  })
})
