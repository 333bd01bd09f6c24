import { describe, expect, test } from 'vitest'
import type { SubscriptionId } from '../../lib/ids.ts'
import { applied, copyOf, draftOf, sendAt } from './fields.ts'

const draft = draftOf({ type: 'blast', name: 'Spring', subscription_id: 1 as SubscriptionId })

describe('send_at', () => {
  test.each([
    ['2026-12-01T09:00:00Z', false, '2026-12-01T09:00:00.000Z'],
    ['2026-12-01T09:00+10:00', false, '2026-11-30T23:00:00.000Z'],
    ['2026-12-01T09:00', false, '2026-12-01T09:00:00.000Z'],
    ['2026-12-01', false, '2026-12-01T00:00:00.000Z'],
    ['2026-12-01T09:00:00.123456Z', false, '2026-12-01T09:00:00.123Z'],
    ['2026-12-01T09:00', true, '2026-12-01T09:00:00.000'],
    ['2026-12-01T09:00:00Z', true, '2026-12-01T09:00:00.000'],
    ['2026-12-01T09:00+10:00', true, '2026-12-01T09:00:00.000'],
    ['2026-12-01', true, '2026-12-01T00:00:00.000'],
  ])('%s, on each user’s clock: %s, is %s', (text, inUserTimezone, expected) => expect(sendAt(text, inUserTimezone)).toBe(expected))

  test('keeps what the clock shows when it is moved to each user’s clock and back', () => {
    const planned = applied(draft, { send_at: '2026-12-01T09:00:00Z' })
    const moved = applied(planned, { send_in_user_timezone: true })
    expect(moved.send_at).toBe('2026-12-01T09:00:00.000')
    expect(applied(moved, { send_in_user_timezone: false }).send_at).toBe('2026-12-01T09:00:00.000Z')
  })

  test('null clears it', () => expect(applied(applied(draft, { send_at: '2026-12-01' }), { send_at: null }).send_at).toBeNull())
})

test('what is absent stays, and doubles are dropped', () => {
  const tagged = applied(draft, { tags: ['b', 'a', 'b'], list_ids: [2, 1, 2], exclusion_list_ids: [3, 3] })
  expect(tagged).toMatchObject({ tags: ['b', 'a'], list_ids: [2, 1], exclusion_list_ids: [3] })
  expect(applied(tagged, { name: 'Autumn' })).toEqual({ ...tagged, name: 'Autumn' })
})

test('a copy is a draft without a date, and its name fits', () => {
  const original = { ...applied(draft, { send_at: '2026-12-01', tags: ['x'] }), name: '🔔'.repeat(255), state: 'finished' as const }
  const copy = copyOf(original)
  expect(copy).toEqual({ ...original, name: `${'🔔'.repeat(248)} (copy)`, state: 'draft', send_at: null })
})
