import { expect, test } from 'vitest'
import { usesIn } from '../src/screens/lists/uses.ts'

const campaign = { id: 1, name: 'Spring', list_ids: [], exclusion_list_ids: [] }
const rule = { all: [{ attribute: 'email', is_set: true }, { not: { list: 7 } }] }

test.each([
  ['no one uses', campaign, []],
  ['a campaign sends to', { ...campaign, list_ids: [3, 7] }, ['campaign']],
  ['a campaign excludes', { ...campaign, exclusion_list_ids: [7] }, ['exclusion']],
  ['a campaign sends to and excludes', { ...campaign, list_ids: [7], exclusion_list_ids: [7] }, ['campaign', 'exclusion']],
  ['a trigger has in the rule for its event', { ...campaign, event_rule: { user: rule } }, ['event']],
])('a list that %s', (_, campaign, hows) => {
  expect(usesIn(7, [campaign as never], []).map(({ how }) => how)).toEqual(hows)
})

test('a list is used in the rules of others', () => {
  const lists = [
    { id: 8, name: 'Both', rule },
    { id: 9, name: 'Other', rule: { list: 8 } },
    { id: 10, name: 'Static' },
  ]
  expect(usesIn(7, [], lists as never)).toEqual([{ key: 'list-8', name: 'Both', how: 'list' }])
})
