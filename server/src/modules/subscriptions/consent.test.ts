import { describe, expect, test } from 'vitest'
import { eventOf, isSubscribed, queuedChangesOf } from './consent.ts'
import type { SavedStateChange } from './consents/schema.ts'

describe('isSubscribed', () => {
  test.each([
    [0, false, false, false],
    [1, false, false, true],
    [2, false, false, true],
    [0, false, true, false],
    [1, false, true, false],
    [2, false, true, true],
    [0, true, false, true],
    [0, true, true, true],
  ] as const)('state %i, transactional %s, requires confirmation %s: %s', (state, is_transactional, requires_confirmation, expected) => {
    expect(isSubscribed({ state, is_transactional, requires_confirmation })).toBe(expected)
  })
})

describe('events of state changes', () => {
  test.each([
    [0, 0, false, null],
    [0, 1, false, 'subscribed'],
    [0, 2, false, 'subscribed'],
    [1, 2, false, null],
    [2, 1, false, null],
    [1, 0, false, 'unsubscribed'],
    [2, 0, false, 'unsubscribed'],
    [0, 1, true, null],
    [0, 2, true, 'subscribed'],
    [1, 2, true, 'subscribed'],
    [2, 1, true, 'unsubscribed'],
    [1, 0, true, 'unsubscribed'],
  ] as const)('from %i to %i, requires confirmation %s: %s', (before, after, requiresConfirmation, expected) => {
    expect(eventOf(before, after, requiresConfirmation)).toBe(expected)
  })

  test('a first state is compared with the default, and each user has one change with all types', () => {
    const now = new Date(Date.UTC(2026, 10, 20))
    const change = (user_id: number, subscription_id: number, state: 0 | 1 | 2, previous_state: 0 | 1 | null, default_state: 0 | 1) =>
      ({ user_id, subscription_id, state, previous_state, default_state, requires_confirmation: false }) as SavedStateChange
    const queued = queuedChangesOf([change(1, 7, 1, null, 1), change(2, 7, 0, null, 1), change(1, 8, 1, 0, 1)], 'api', now)
    const event = (name: string, subscription_id: number) => ({
      name,
      data: { subscription_id, source: 'api' },
      created_at: '2026-11-20T00:00:00.000Z',
    })
    expect(queued).toEqual([
      { user_id: 1, what: ['subscription:7', 'subscription:8'] },
      { user_id: 1, what: [], event: event('subscribed', 8) },
      { user_id: 2, what: ['subscription:7'] },
      { user_id: 2, what: [], event: event('unsubscribed', 7) },
    ])
  })
})
