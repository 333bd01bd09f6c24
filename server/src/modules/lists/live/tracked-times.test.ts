import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DAY_MS } from '../../../lib/times.ts'
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
  ['the oldest time is dropped', {}, [5, 3, 1], [4], [5, 4, 3]],
  ['a late time that is older than the kept ones changes nothing', {}, [5, 4, 3], [2], [5, 4, 3]],
  ['two events at one instant count twice', {}, [5], [5], [5, 5]],
  ['the earliest time is kept', { keep: 'earliest', count: 1 }, [5], [9, 4], [4]],
])('%s', (_, changes, kept, more, expected) => expect(withTimes(tracker(changes), kept, more, 10)).toEqual(expected))

test.each<[string, Partial<Tracker>, number[], number[], number[]]>([
  ['a time after now takes no place of those before', {}, [5, 4, 3], [12, 11], [12, 11, 5, 4, 3]],
  ['a time that came meanwhile does', {}, [9, 5, 4, 3], [12], [12, 9, 5, 4]],
  ['the earliest time of all is kept', { keep: 'earliest', count: 1 }, [12], [11], [11]],
])('%s', (_, changes, kept, more, expected) => expect(withTimes(tracker(changes), kept, more, 10)).toEqual(expected))

test('times that left the window more than a day ago are dropped', () => {
  expect(withTimes(tracker({ withinMs: 7 * DAY_MS }), [], [100 * DAY_MS, 93 * DAY_MS, 91 * DAY_MS], 100 * DAY_MS)).toEqual([
    100 * DAY_MS,
    93 * DAY_MS,
  ])
})

test('the order and the grouping of calls do not matter', () => {
  const times = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 12 })
  fc.assert(
    fc.property(
      times,
      fc.constantFrom(0, 10, 20),
      fc.nat(12),
      fc.constantFrom('latest' as const, 'earliest' as const),
      fc.integer({ min: 1, max: 5 }),
      (all, nowMs, cut, keep, count) => {
        const of = tracker({ keep, count })
        const inTwo = withTimes(of, withTimes(of, [], all.slice(cut), nowMs), all.slice(0, cut), nowMs)
        const oneByOne = all.reduce((kept: readonly number[], time) => withTimes(of, kept, [time], nowMs), [])
        expect(inTwo).toEqual(withTimes(of, [], all, nowMs))
        expect(oneByOne).toEqual(inTwo)
      },
    ),
  )
})

test.each<[string, Partial<Tracker>, number[], boolean]>([
  ['full without a window', {}, [5, 4, 3], true],
  ['one time less is not full', {}, [5, 4], false],
  ['a time after now does not fill', {}, [11, 5, 4], false],
  ['times before now do, whatever comes', {}, [11, 5, 4, 3], true],
  ['full while the last time is in the window', { withinMs: 8 }, [9, 8, 3], true],
  ['not full when the last time has left the window', { withinMs: 7 }, [9, 8, 3], false],
  ['never full when the condition needs the time', { needsTime: true, count: 1 }, [5], false],
  ['never full for membership events', { names: ['list_left'] }, [5, 4, 3], false],
])('%s', (_, changes, times, expected) => expect(isFull(tracker(changes), times, 10)).toBe(expected))
