import { expect, test } from 'vitest'
import type { UserId } from '../../lib/ids.ts'
import { type CountedEvent, countDays, countNames, RECENT_KEPT } from './counts.ts'

const at = (name: string, time: string, userId = 1): CountedEvent => ({
  userId: userId as UserId,
  event: { name, createdAt: new Date(time) },
})

test('an event counts on the day of its created_at in UTC', () => {
  const stored = [
    at('a', '2026-11-22T23:59:59.999Z'),
    at('a b', '2026-11-23T00:00:00Z'),
    at('a b', '2026-11-23T23:00:00Z'),
    at('a', '1970-01-01'),
  ]
  expect(countDays(stored)).toEqual([
    { name: 'a', day: '2026-11-22', events: 1 },
    { name: 'a b', day: '2026-11-23', events: 2 },
    { name: 'a', day: '1970-01-01', events: 1 },
  ])
})

test('a name has its first and last time, and the events that were stored last, newest first', () => {
  expect(countNames([at('a', '2026-11-23', 1), at('b', '2026-11-01', 2), at('a', '2026-11-20', 3), at('a', '2026-11-21', 4)])).toEqual([
    {
      name: 'a',
      events: 3,
      first_at: new Date('2026-11-20'),
      last_at: new Date('2026-11-23'),
      recent_users: [4, 3, 1],
      recent_times: [new Date('2026-11-21'), new Date('2026-11-20'), new Date('2026-11-23')],
    },
    {
      name: 'b',
      events: 1,
      first_at: new Date('2026-11-01'),
      last_at: new Date('2026-11-01'),
      recent_users: [2],
      recent_times: [new Date('2026-11-01')],
    },
  ])
})

test('only the last of many events are kept', () => {
  const [counted] = countNames(Array.from({ length: 2000 }, (_, index) => at('a', '2026-11-23', index)))
  expect([counted?.events, counted?.recent_users.length, counted?.recent_users[0]]).toEqual([2000, RECENT_KEPT, 1999])
})
