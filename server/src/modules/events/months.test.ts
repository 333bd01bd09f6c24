import { expect, test } from 'vitest'
import { missingMonths, monthOf } from './months.ts'

test.each([
  ['2026-11-30T23:59:59.999Z', { name: 'events_2026_11', from: '2026-11-01', to: '2026-12-01' }],
  ['2026-12-01T00:00:00.000Z', { name: 'events_2026_12', from: '2026-12-01', to: '2027-01-01' }],
])('%s is in the month %o', (instant, month) => expect(monthOf(new Date(instant))).toEqual(month))

test('at first, this month and those ahead are missing', () => {
  expect(missingMonths(new Set(['events_past']), new Date('2026-11-23T09:00:00Z'), 2).map(({ name }) => name)).toEqual([
    'events_2026_11',
    'events_2026_12',
    'events_2027_01',
  ])
})

test('after a long pause, the months in between are missing too', () => {
  expect(missingMonths(new Set(['events_2026_11']), new Date('2027-02-01T00:00:00Z'), 0).map(({ name }) => name)).toEqual([
    'events_2026_12',
    'events_2027_01',
    'events_2027_02',
  ])
})

test('with a clock that was set back, no month is missing', () => {
  expect(missingMonths(new Set(['events_2026_11', 'events_2026_12', 'events_2027_01']), new Date('2026-10-05T00:00:00Z'), 2)).toEqual([])
})
