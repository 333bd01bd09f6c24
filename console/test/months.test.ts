/** The calendar of campaigns: its weeks, and the day of a campaign in the time zone of the project. */
import { expect, test } from 'vitest'
import { byDay, laterMonth, monthOf, slotOf, weeksOf } from '../src/screens/campaigns/months.ts'

test.each([
  ['2026-11', '2026-11'],
  ['2026-13', undefined],
  ['2026-1', undefined],
  [202611, undefined],
])('the month of the address %j is %s', (value, expected) => expect(monthOf(value)).toBe(expected))

test.each([
  ['2026-11', 1, '2026-12'],
  ['2026-12', 1, '2027-01'],
  ['2026-01', -1, '2025-12'],
])('%s and %i is %s', (month, by, expected) => expect(laterMonth(month, by)).toBe(expected))

test.each([
  ['2026-11', '2026-10-26', '2026-12-06', 6],
  ['2027-02', '2027-02-01', '2027-02-28', 4],
  ['2028-02', '2028-01-31', '2028-03-05', 5],
])('the weeks of %s are from %s to %s', (month, first, last, count) => {
  const weeks = weeksOf(month)
  expect(weeks.map((week) => week.length)).toEqual(Array.from({ length: count }, () => 7))
  expect([weeks.flat()[0], weeks.flat().at(-1)]).toEqual([first, last])
})

const at = '2026-11-23T22:30:00.000Z'
const earlier = '2026-11-20T00:00:00.000Z'
test.each([
  [
    { state: 'scheduled', send_at: at },
    { day: '2026-11-24', time: '09:30', isLocal: false },
  ],
  [
    { state: 'draft', send_at: at },
    { day: '2026-11-24', time: '09:30', isLocal: false },
  ],
  [{ state: 'draft' }, null],
  [
    { state: 'scheduled', send_at: '2026-11-23T22:30:00.000' },
    { day: '2026-11-23', time: '22:30', isLocal: true },
  ],
  [
    { state: 'finished', send_at: earlier, started_at: at },
    { day: '2026-11-24', time: '09:30', isLocal: false },
  ],
  [
    { state: 'loading', send_at: at },
    { day: '2026-11-24', time: '09:30', isLocal: false },
  ],
  [{ state: 'running' }, null],
] as const)('%o is at %o', (campaign, slot) => expect(slotOf(campaign as Parameters<typeof slotOf>[0], 'Australia/Sydney')).toEqual(slot))

test('the campaigns of a day are in the order of their times', () => {
  const campaigns = ['T09:00', 'T00:30', 'T21:15'].map((time) => ({ state: 'scheduled' as const, send_at: `2026-11-23${time}:00.000Z` }))
  const days = byDay([...campaigns, { state: 'draft' as const }], 'UTC')
  expect([...days.keys()]).toEqual(['2026-11-23'])
  expect(days.get('2026-11-23')?.map(({ time }) => time)).toEqual(['00:30', '09:00', '21:15'])
})
