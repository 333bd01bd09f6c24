import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assignPartitions, BUILDING, BY_HAND, TIMERS, UNDIVIDED } from './partitions.ts'

test.each<[string, string[][], number[]]>([
  ['items without a shared key are spread', [['a'], ['b'], ['c'], ['d']], [0, 1, 0, 1]],
  ['items that share a key stay together', [['a'], ['b'], ['a']], [0, 1, 0]],
  ['items that share keys through a third item stay together', [['a'], ['b'], ['c'], ['a', 'c']], [0, 1, 0, 0]],
  ['other items go to the partition without the large group', [['a'], ['a'], ['b'], ['c']], [0, 0, 1, 1]],
  ['items without a key are spread', [[], []], [0, 1]],
])('%s', (_, keys, expected) => expect([...assignPartitions(keys, 2)]).toEqual(expected))

test('the writers of counters have numbers of their own, which are stored and never change', () => {
  expect({ UNDIVIDED, BY_HAND, BUILDING, TIMERS }).toEqual({ UNDIVIDED: 0, BY_HAND: -1, BUILDING: -2, TIMERS: -3 })
})

test('items that share a key share a partition, and the assignment is deterministic', () => {
  const items = fc.array(fc.array(fc.constantFrom(...'abcdefghij'), { maxLength: 3 }), { maxLength: 30 })
  fc.assert(
    fc.property(items, fc.integer({ min: 1, max: 4 }), (keys, partitions) => {
      const divided = assignPartitions(keys, partitions)
      expect(assignPartitions(keys, partitions)).toEqual(divided)
      for (const [one, mine] of keys.entries())
        for (const [other, theirs] of keys.entries())
          if (mine.some((key) => theirs.includes(key))) expect(divided[one]).toBe(divided[other])
    }),
  )
})
