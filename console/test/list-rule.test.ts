/** The search and the rule of the list of users, as the rule of a new list. */
import { expect, test } from 'vitest'
import { listRuleOf } from '../src/screens/users/list-rule.ts'

const kim = { external_id: 'KIM-1', email: 'Kim.Lee@example.com', phone: '+61412345678' }

const searched = (q: string, ...users: (typeof kim)[]) =>
  (listRuleOf(q, undefined, users).any as { attribute: string; contains: string }[]).map(({ attribute, contains }) => [attribute, contains])

test('the search finds letters in either case, and the rule compares them exactly, so it has every spelling that was found', () => {
  expect(searched('kim')).toEqual([
    ['external_id', 'kim'],
    ['external_id', 'KIM'],
    ['email', 'kim'],
    ['email', 'KIM'],
    ['phone', 'kim'],
  ])
  expect(searched('kim.l', kim)).toContainEqual(['email', 'Kim.L'])
  expect(searched('M-1', kim)).toContainEqual(['external_id', 'M-1'])
  for (const q of ['(', 'a[/]{2}|^$?*', '\\']) expect(searched(q, kim)).toContainEqual(['email', q])
  expect(searched('+614', kim)).toEqual([
    ['external_id', '+614'],
    ['email', '+614'],
    ['phone', '+614'],
  ])
})

test('the search is beside the rule in one group', () => {
  const gold = { attribute: 'data.tier', is: 'gold' }
  const search = listRuleOf('7', undefined, [])
  expect(listRuleOf('7', gold, [])).toEqual({ all: [search, gold] })
  expect(listRuleOf('7', { all: [gold] }, [])).toEqual({ all: [search, gold] })
  expect(listRuleOf(undefined, gold, [])).toEqual(gold)
})
