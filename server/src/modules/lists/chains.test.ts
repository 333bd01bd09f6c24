import { expect, test } from 'vitest'
import type { ListId } from '../../lib/ids.ts'
import { CHAIN_MAX, chainFaults, type References } from './chains.ts'

const references = (lists: Record<number, number[]>): References =>
  new Map(Object.entries(lists).map(([id, others]) => [Number(id) as ListId, new Set(others as ListId[])]))

const faults = (lists: Record<number, number[]>, list: number | null, named: number[]) =>
  chainFaults(
    references(lists),
    list as ListId | null,
    named.map((id, at) => ({ id: id as ListId, param: `rule.all[${at}].list` })),
    (id) => `“${id}”`,
  ).map(({ param, message }) => [param, message])

const cycle = (...lists: number[]) => expect.stringContaining(`: ${lists.map((id) => `“${id}”`).join(' → ')}.`)

test.each<[string, Record<number, number[]>, number | null, number[], [string, unknown][]]>([
  ['no list', { 2: [3] }, 1, [], []],
  ['a chain', { 2: [3], 3: [4] }, 1, [2], []],
  ['two paths to one list', { 2: [4], 3: [4] }, 1, [2, 3], []],
  ['a list that does not exist yet', { 2: [3] }, null, [2, 3], []],
  ['the list itself', {}, 1, [1], [['rule.all[0].list', cycle(1, 1)]]],
  ['a list that depends on it', { 2: [1] }, 1, [3, 2], [['rule.all[1].list', cycle(1, 2, 1)]]],
  ['a list that depends on it through others', { 2: [5, 3], 3: [4], 4: [1], 5: [] }, 1, [2], [['rule.all[0].list', cycle(1, 2, 3, 4, 1)]]],
])('%s', (_, lists, list, named, expected) => expect(faults(lists, list, named)).toEqual(expected))

/** A chain of lists with consecutive ids. */
const chain = (from: number, count: number): Record<number, number[]> =>
  Object.fromEntries(Array.from({ length: count - 1 }, (_, index) => [from + index, [from + index + 1]]))

test.each<[string, Record<number, number[]>, number | null, number, boolean]>([
  ['the longest chain below', chain(100, CHAIN_MAX - 1), null, 100, true],
  ['one list too many below', chain(100, CHAIN_MAX), null, 100, false],
  ['the longest chain, above and below', { ...chain(100, 5), ...chain(200, CHAIN_MAX - 5) }, 104, 200, true],
  ['one list too many, above and below', { ...chain(100, 5), ...chain(200, CHAIN_MAX - 4) }, 104, 200, false],
])('chains: %s', (_, lists, list, named, isValid) => {
  const found = faults(lists, list, [named])
  expect(found).toEqual(isValid ? [] : [['rule.all[0].list', expect.stringContaining(`more than ${CHAIN_MAX} lists`)]])
})

test('each list is visited once, however many paths lead to it', () => {
  const lists: Record<number, number[]> = {}
  for (let rank = 0; rank < CHAIN_MAX - 2; rank++) {
    for (let at = 0; at < 50; at++) lists[rank * 50 + at + 1] = Array.from({ length: 50 }, (_, next) => (rank + 1) * 50 + next + 1)
  }
  expect(faults(lists, 10_000, [1])).toEqual([])
})
