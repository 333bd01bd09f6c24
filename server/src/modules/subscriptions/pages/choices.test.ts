import { describe, expect, test } from 'vitest'
import type { SubscriptionId } from '../../../lib/ids.ts'
import type { Channel } from '../../../lib/shapes.ts'
import type { Standing } from '../schema.ts'
import { choicesOf, readForm } from './choices.ts'

const type = (id: number, given: Partial<Standing> = {}): Standing => ({
  id: id as SubscriptionId,
  name: `Type ${id}`,
  channel: 'email',
  description: null,
  is_public: true,
  is_transactional: false,
  requires_confirmation: false,
  state: 1,
  ...given,
})

const choose = (standings: Standing[], shown: number[], ticked: number[], givenUp: Channel[] = []) =>
  choicesOf(standings, new Set(givenUp), { shown: new Set(shown), ticked: new Set(ticked) })

describe('what somebody chose', () => {
  test.each([
    ['a box that stays ticked is no new yes', [type(1)], [1], [1], [], []],
    ['a box that was unticked is a no', [type(1)], [1], [], [[1, 0]], []],
    ['a box that stays unticked is a no, too', [type(1, { state: 0 })], [1], [], [[1, 0]], []],
    ['a box that was ticked is a yes', [type(1, { state: 0 })], [1], [1], [[1, 1]], ['email']],
    ['what was not on the page is left alone', [type(1), type(2)], [1], [], [[1, 0]], []],
    ['what is not public is left alone', [type(1, { is_public: false })], [1], [], [], []],
    ['what is sent in any case is left alone', [type(1, { is_transactional: true })], [1], [], [], []],
    ['a tick for what was not on the page says nothing', [type(1, { state: 0 })], [], [1], [], []],
    ['a type that is unknown says nothing', [], [9], [9], [], []],
  ] as [string, Standing[], number[], number[], number[][], Channel[]][])('%s', (_, standings, shown, ticked, changes, channels) => {
    const chosen = choose(standings, shown, ticked)
    expect(chosen.changes.map(({ subscription_id, state }) => [subscription_id, state])).toEqual(changes)
    expect([...chosen.channels]).toEqual(channels)
    expect(chosen.confirms).toBe(false)
  })

  test('after everything was given up, only what is ticked comes back', () => {
    const standings = [type(1), type(2), type(3, { channel: 'push' })]
    const chosen = choose(standings, [1, 2, 3], [1, 3], ['email'])
    expect(chosen.changes).toEqual([
      { subscription_id: 2, state: 0 },
      { subscription_id: 1, state: 1 },
    ])
    expect([...chosen.channels]).toEqual(['email'])
  })

  test.each([
    [0, true],
    [1, true],
    [2, false],
  ] as const)('from state %i, a yes that is to be confirmed asks for that: %s', (state, expected) => {
    expect(choose([type(1, { state, requires_confirmation: true })], [1], [1]).confirms).toBe(expected)
  })
})

test('a form says what was on the page and what was ticked; nonsense in it is left out', () => {
  expect(readForm(Buffer.from('on=1&shown=1&shown=2&on=x&shown=1.5'))).toEqual({ shown: new Set([1, 2]), ticked: new Set([1]), all: false })
  expect(readForm(Buffer.from('all=yes')).all).toBe(true)
  expect(readForm(Buffer.alloc(0))).toEqual({ shown: new Set(), ticked: new Set(), all: false })
})
