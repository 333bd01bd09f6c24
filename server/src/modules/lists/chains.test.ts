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

const chainOf = (...lists: number[]) => expect.stringContaining(`: ${lists.map((id) => `“${id}”`).join(' mentions ')}.`)

test.each<[string, Record<number, number[]>, number | null, number[], [string, unknown][]]>([
  ['nothing mentioned', { 2: [3] }, 1, [], []],
  ['lists in a row', { 2: [3], 3: [4] }, 1, [2], []],
  ['two ways to one list', { 2: [4], 3: [4] }, 1, [2, 3], []],
  ['a list that is about to be made', { 2: [3] }, null, [2, 3], []],
  ['itself', {}, 1, [1], [['rule.all[0].list', chainOf(1, 1)]]],
  ['one that mentions it', { 2: [1] }, 1, [3, 2], [['rule.all[1].list', chainOf(1, 2, 1)]]],
  ['one that leads back to it', { 2: [5, 3], 3: [4], 4: [1], 5: [] }, 1, [2], [['rule.all[0].list', chainOf(1, 2, 3, 4, 1)]]],
])('%s', (_, lists, list, named, expected) => expect(faults(lists, list, named)).toEqual(expected))

/** Lists from `from` on, each of which mentions the next. */
const row = (from: number, count: number): Record<number, number[]> =>
  Object.fromEntries(Array.from({ length: count - 1 }, (_, index) => [from + index, [from + index + 1]]))

test.each<[string, Record<number, number[]>, number | null, number, boolean]>([
  ['as many below as may be', row(100, CHAIN_MAX - 1), null, 100, true],
  ['one too many below', row(100, CHAIN_MAX), null, 100, false],
  ['above and below, as many as may be', { ...row(100, 5), ...row(200, CHAIN_MAX - 5) }, 104, 200, true],
  ['above and below, one too many', { ...row(100, 5), ...row(200, CHAIN_MAX - 4) }, 104, 200, false],
])('lists in a row: %s', (_, lists, list, named, fine) => {
  const found = faults(lists, list, [named])
  expect(found).toEqual(fine ? [] : [['rule.all[0].list', expect.stringContaining(`more than ${CHAIN_MAX} lists`)]])
})

test('lists that fan out and in again cost no more than they are', () => {
  const lists: Record<number, number[]> = {}
  for (let rank = 0; rank < CHAIN_MAX - 2; rank++) {
    for (let at = 0; at < 50; at++) lists[rank * 50 + at + 1] = Array.from({ length: 50 }, (_, next) => (rank + 1) * 50 + next + 1)
  }
  expect(faults(lists, 10_000, [1])).toEqual([])
})
