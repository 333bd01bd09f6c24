import { describe, expect, test } from 'vitest'
import type { SubscriptionId } from '../../../lib/ids.ts'
import type { Channel } from '../../../lib/shapes.ts'
import type { TypeWithState } from '../schema.ts'
import { canReceive, choicesOf, readForm } from './choices.ts'

const type = (id: number, given: Partial<TypeWithState> = {}): TypeWithState => ({
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

const choose = (types: TypeWithState[], offered: number[], ticked: number[], unsubscribed: Channel[] = []) =>
  choicesOf(types, new Set(unsubscribed), { offered: new Set(offered), ticked: new Set(ticked) })

describe('choices', () => {
  test.each([
    ['a box that stays ticked is not a new opt-in', [type(1)], [1], [1], [], []],
    ['a box that was unticked is an opt-out', [type(1)], [1], [], [[1, 0]], []],
    ['a box that stays unticked is an opt-out too', [type(1, { state: 0 })], [1], [], [[1, 0]], []],
    ['a box that was ticked is an opt-in', [type(1, { state: 0 })], [1], [1], [[1, 1]], ['email']],
    ['a type that was not on the page does not change', [type(1), type(2)], [1], [], [[1, 0]], []],
    ['a type that is not public does not change', [type(1, { is_public: false })], [1], [], [], []],
    ['a transactional type does not change', [type(1, { is_transactional: true })], [1], [], [], []],
    ['a tick for a type that was not on the page is ignored', [type(1, { state: 0 })], [], [1], [], []],
    ['an unknown type is ignored', [], [9], [9], [], []],
  ] as [string, TypeWithState[], number[], number[], number[][], Channel[]][])('%s', (_, types, offered, ticked, changes, channels) => {
    const chosen = choose(types, offered, ticked)
    expect(chosen.changes.map(({ subscription_id, state }) => [subscription_id, state])).toEqual(changes)
    expect(chosen.optedIn.map(({ channel }) => channel)).toEqual(channels)
    expect(chosen.confirms).toBe(false)
  })

  test('after unsubscribing from everything, only ticked types are subscribed again', () => {
    const types = [type(1), type(2), type(3, { channel: 'push' })]
    const chosen = choose(types, [1, 2, 3], [1, 3], ['email'])
    expect(chosen.changes).toEqual([
      { subscription_id: 2, state: 0 },
      { subscription_id: 1, state: 1 },
    ])
    expect(chosen.optedIn.map(({ id }) => id)).toEqual([1])
  })

  test.each([
    [0, true],
    [1, true],
    [2, false],
  ] as const)('from state %i, whether an opt-in needs a confirmation is %s', (state, expected) => {
    expect(choose([type(1, { state, requires_confirmation: true })], [1], [1]).confirms).toBe(expected)
  })
})

test('readForm returns the types that were on the page and those that were ticked, and ignores invalid values', () => {
  expect(readForm(Buffer.from('on=1&shown=1&shown=2&on=x&shown=1.5'))).toEqual({
    offered: new Set([1, 2]),
    ticked: new Set([1]),
    all: false,
  })
  expect(readForm(Buffer.from('all=yes')).all).toBe(true)
  expect(readForm(Buffer.alloc(0))).toEqual({ offered: new Set(), ticked: new Set(), all: false })
})

test.each<[Channel, object, boolean]>([
  ['email', { email: 'kim@example.com' }, true],
  ['email', {}, false],
  ['text', { phone: '+61412345678' }, true],
  ['text', { email: 'kim@example.com' }, false],
  ['push', { has_push_device: true }, true],
  ['push', {}, false],
  ['in_app', {}, true],
  ['webhook', { email: 'kim@example.com', phone: '+61412345678', has_push_device: true }, false],
])('whether messages over %s reach a user with %j is %s', (channel, given, expected) => {
  expect(canReceive(channel, { email: null, phone: null, has_push_device: false, ...given })).toBe(expected)
})
