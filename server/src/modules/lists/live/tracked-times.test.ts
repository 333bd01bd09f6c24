import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Tracker } from '../../rules/compile.ts'
import { isFull, withTimes } from './tracked-times.ts'

const tracker = (changes: Partial<Tracker>): Tracker => ({
  names: ['purchase'],
  where: [],
  sinceMs: null,
  untilMs: null,
  withinMs: null,
  keep: 'latest',
  count: 3,
  needsTime: false,
  ...changes,
})

test.each<[string, Partial<Tracker>, number[], number[], number[]]>([
  ['a newer time comes first', {}, [5, 3], [9], [9, 5, 3]],
  ['the oldest falls out', {}, [5, 3, 1], [4], [5, 4, 3]],
  ['a late one that is too old to count changes nothing', {}, [5, 4, 3], [2], [5, 4, 3]],
  ['two events of one instant are two', {}, [5], [5], [5, 5]],
  ['the earliest is kept', { keep: 'earliest', count: 1 }, [5], [9, 4], [4]],
])('%s', (_, changes, kept, more, expected) => expect(withTimes(tracker(changes), kept, more, 10)).toEqual(expected))

test('times that left the window long ago are not kept', () => {
  const day = 86_400_000
  expect(withTimes(tracker({ withinMs: 7 * day }), [], [100 * day, 93 * day, 91 * day], 100 * day)).toEqual([100 * day, 93 * day])
})

test('neither the order of arrival nor the grouping matters', () => {
  const times = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 12 })
  fc.assert(
    fc.property(
      times,
      fc.nat(12),
      fc.constantFrom('latest' as const, 'earliest' as const),
      fc.integer({ min: 1, max: 5 }),
      (all, cut, keep, count) => {
        const of = tracker({ keep, count })
        const inTwo = withTimes(of, withTimes(of, [], all.slice(cut), 0), all.slice(0, cut), 0)
        const oneByOne = all.reduce((kept: readonly number[], time) => withTimes(of, kept, [time], 0), [])
        expect(inTwo).toEqual(withTimes(of, [], all, 0))
        expect(oneByOne).toEqual(inTwo)
      },
    ),
  )
})

test.each<[string, Partial<Tracker>, number[], boolean]>([
  ['as many as can matter are enough for ever', {}, [5, 4, 3], true],
  ['one less is not', {}, [5, 4], false],
  ['in a window they are enough while the last is inside', { withinMs: 8 }, [9, 8, 3], true],
  ['and not any more when it has left', { withinMs: 7 }, [9, 8, 3], false],
  ['when it was can always change', { needsTime: true, count: 1 }, [5], false],
  ['moves are stored too late to be read again', { names: ['list_left'] }, [5, 4, 3], false],
])('%s', (_, changes, times, expected) => expect(isFull(tracker(changes), times, 10)).toBe(expected))
