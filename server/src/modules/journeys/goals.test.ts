import { expect, test } from 'vitest'
import { goalsOf, goalUntil } from './goals.ts'

const at = (text: string) => new Date(`2026-11-${text}:00:00Z`)
const graph = {
  settings: {
    goals: [
      { name: 'bought', event_name: 'purchase', within_days: 2 },
      { name: 'big', event_name: 'purchase', where: [{ attribute: 'data.total', greater_than: 100 }], within_days: 7 },
    ],
  },
}
const user = { last_entered_at: at('10T00'), held_out_at: null, arm: 'a', goals: {} }
const purchase = (time: string, total = 10) => ({ name: 'purchase', data: { total }, createdAt: at(time) })

test.each([
  ['an event within the days', user, purchase('11T00'), ['bought a']],
  ['an event at the entry', user, purchase('10T00'), ['bought a']],
  ['an event before the entry', user, purchase('09T23'), []],
  ['an event at the end of the days', user, purchase('12T00'), ['bought a']],
  ['an event after the days of one goal', user, purchase('12T01', 101), ['big a']],
  ['an event whose data passes', user, purchase('11T00', 101), ['bought a', 'big a']],
  ['another event', user, { ...purchase('11T00'), name: 'visit' }, []],
  ['a goal that was reached in this entrance', { ...user, goals: { bought: at('10T05').toISOString() } }, purchase('11T00'), []],
  ['a goal that was reached in an earlier one', { ...user, goals: { bought: at('09T05').toISOString() } }, purchase('11T00'), ['bought a']],
  ['a user who was held out', { ...user, last_entered_at: null, held_out_at: at('10T00') }, purchase('11T00'), ['bought ']],
  ['a user who entered after being held out', { ...user, held_out_at: at('01T00') }, purchase('11T00'), ['bought a']],
  ['a user who never entered', { ...user, last_entered_at: null }, purchase('11T00'), []],
  ['a user without an experiment', { ...user, arm: null }, purchase('11T00'), ['bought null']],
])('%s', (_, known, event, expected) => {
  expect(goalsOf(graph, known, event).map(({ name, arm }) => `${name} ${arm}`)).toEqual(expected)
})

test('goals count until the last of their periods is over', () => {
  expect(goalUntil(graph.settings, at('10T00'))).toEqual(at('17T00'))
  expect(goalUntil({}, at('10T00'))).toBeNull()
})
