import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assignPartitions } from './partitions.ts'

test.each<[string, string[][], number[]]>([
  ['items of nobody in common are spread', [['a'], ['b'], ['c'], ['d']], [0, 1, 0, 1]],
  ['items that share a key stay together', [['a'], ['b'], ['a']], [0, 1, 0]],
  ['also by way of another', [['a'], ['b'], ['c'], ['a', 'c']], [0, 1, 0, 0]],
  ['a large group does not hold the others up', [['a'], ['a'], ['b'], ['c']], [0, 0, 1, 1]],
  ['an item without a key is anybody’s', [[], []], [0, 1]],
])('%s', (_, keys, expected) => expect([...assignPartitions(keys, 2)]).toEqual(expected))

test('whatever shares a key shares a partition, and the same items are always divided alike', () => {
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
