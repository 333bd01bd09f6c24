import { describe, expect, test } from 'vitest'
import type { MessageId } from '../../../lib/ids.ts'
import { cappedUntil, delayedUntil, NO_POLICY, quietUntil, type Received, type SendingPolicy } from './policy.ts'

const night: SendingPolicy = { caps: [], quiet_hours: { channels: ['email', 'text'], from: '21:00', to: '08:00' } }
const siesta: SendingPolicy = { caps: [], quiet_hours: { channels: ['email'], from: '13:00', to: '15:30' } }
const at = (text: string) => new Date(text)

describe('quiet hours are in the time zone of the user', () => {
  test.each<[string, SendingPolicy, string, string, string | null]>([
    ['the evening', night, '2026-11-20T10:00:00Z', 'Australia/Sydney', '2026-11-20T21:00:00.000Z'],
    ['the moment they start', night, '2026-11-20T21:00:00Z', 'Etc/UTC', '2026-11-21T08:00:00.000Z'],
    ['after midnight', night, '2026-11-20T03:00:00Z', 'Etc/UTC', '2026-11-20T08:00:00.000Z'],
    ['the moment they end', night, '2026-11-20T08:00:00Z', 'Etc/UTC', null],
    ['the day', night, '2026-11-20T12:00:00Z', 'Etc/UTC', null],
    ['noon', siesta, '2026-11-20T14:00:00Z', 'Etc/UTC', '2026-11-20T15:30:00.000Z'],
    ['before noon', siesta, '2026-11-20T12:59:59Z', 'Etc/UTC', null],
    ['the night of a change to daylight saving', night, '2026-03-28T22:00:00Z', 'Europe/Berlin', '2026-03-29T06:00:00.000Z'],
    [
      'an end in an hour that daylight saving skips',
      { ...night, quiet_hours: { channels: ['email'], from: '21:00', to: '02:30' } },
      '2026-03-28T22:00:00Z',
      'Europe/Berlin',
      '2026-03-29T01:30:00.000Z',
    ],
    ...[
      ['2026-10-25T00:10:00Z', '2026-10-25T00:30:00.000Z'],
      ['2026-10-25T00:40:00Z', null],
      ['2026-10-25T01:10:00Z', '2026-10-25T01:30:00.000Z'],
      ['2026-10-25T01:30:00Z', null],
    ].map(([now, until]): [string, SendingPolicy, string, string, string | null] => [
      `an end in the hour that the end of daylight saving repeats, at ${now}`,
      { ...night, quiet_hours: { channels: ['email'], from: '21:00', to: '02:30' } },
      now as string,
      'Europe/Berlin',
      until as string | null,
    ]),
    ['no quiet hours', NO_POLICY, '2026-11-20T03:00:00Z', 'Etc/UTC', null],
    [
      'quiet hours that end when they start',
      { caps: [], quiet_hours: { channels: ['email'], from: '09:00', to: '09:00' } },
      '2026-11-20T09:00:00Z',
      'Etc/UTC',
      null,
    ],
  ])('%s', (_, policy, now, zone, until) => {
    expect(quietUntil(policy, 'email', at(now), zone)?.toISOString() ?? null).toBe(until)
  })

  test('other channels have no quiet hours', () => {
    expect(quietUntil(night, 'push', at('2026-11-20T03:00:00Z'), 'Etc/UTC')).toBeNull()
  })
})

describe('a cap delays a message until it fits into the window', () => {
  const now = at('2026-11-20T12:00:00Z')
  const policy: SendingPolicy = { caps: [{ channels: ['email', 'text'], max: 2, window_hours: 24 }], quiet_hours: null }
  const email = (text: string) => ({ channel: 'email' as const, at: at(text) })

  test.each<[string, ReturnType<typeof email>[], string | null]>([
    ['nothing received', [], null],
    ['one message below the cap', [email('2026-11-20T11:00:00Z')], null],
    ['the cap reached', [email('2026-11-20T11:00:00Z'), email('2026-11-20T01:00:00Z')], '2026-11-21T01:00:00.000Z'],
    [
      'the cap exceeded',
      [email('2026-11-20T11:00:00Z'), email('2026-11-20T10:00:00Z'), email('2026-11-20T01:00:00Z')],
      '2026-11-21T10:00:00.000Z',
    ],
    ['one message just outside the window', [email('2026-11-20T11:00:00Z'), email('2026-11-19T12:00:00Z')], null],
  ])('%s', (_, received, until) => expect(cappedUntil(policy, 'email', now, received)?.toISOString() ?? null).toBe(until))

  test('the channels of a cap are counted together, others are not counted', () => {
    const received = [{ channel: 'text' as const, at: now }, { channel: 'push' as const, at: now }, email('2026-11-20T11:00:00Z')]
    expect(cappedUntil(policy, 'email', now, received)).not.toBeNull()
    expect(cappedUntil(policy, 'push', now, received)).toBeNull()
  })

  test('of several caps the one with the latest time applies', () => {
    const caps = [
      { channels: ['email' as const], max: 1, window_hours: 1 },
      { channels: ['email' as const], max: 1, window_hours: 48 },
    ]
    expect(cappedUntil({ caps, quiet_hours: null }, 'email', now, [email('2026-11-20T11:30:00Z')])?.toISOString()).toBe(
      '2026-11-22T11:30:00.000Z',
    )
  })
})

describe('while only messages in flight delay a message, it is checked again soon', () => {
  const now = at('2026-11-20T12:00:00Z')
  const policy: SendingPolicy = { caps: [{ channels: ['email', 'push'], max: 2, window_hours: 24 }], quiet_hours: null }
  const email = (text: string): Received => ({ channel: 'email', at: at(text), in_flight: null, lease_token: null })
  const other = (id: number, lease_token: string | null = 'other', channel: 'email' | 'text' = 'email'): Received => ({
    channel,
    at: now,
    in_flight: id as MessageId,
    lease_token,
  })

  test.each<[string, Received[], string | null]>([
    ['one below the cap', [other(9)], null],
    ['two, of which one came before it', [other(2), other(9)], '2026-11-20T12:00:30.000Z'],
    ['two that came after it', [other(8), other(9)], '2026-11-20T12:00:05.000Z'],
    ['two that were claimed with it, and came after it', [other(8, 'own'), other(9, 'own')], null],
    ['two that were claimed with it, and came before it', [other(1, 'own'), other(2, 'own')], '2026-11-20T12:00:30.000Z'],
    ['two that were decided before it, of which one came after it', [other(2, null), other(9, null)], '2026-11-20T12:00:30.000Z'],
    ['one that has no cap, which came before it', [other(1, 'other', 'text'), other(8), other(9)], '2026-11-20T12:00:05.000Z'],
    ['one received, and one in flight', [email('2026-11-20T01:00:00Z'), other(2)], '2026-11-20T12:00:30.000Z'],
    ['the cap reached without it', [email('2026-11-20T01:00:00Z'), email('2026-11-20T02:00:00Z'), other(2)], '2026-11-21T01:00:00.000Z'],
  ])('%s', (_, received, until) => {
    const message = { id: 5 as MessageId, channel: 'push' as const, lease_token: 'own' }
    expect(delayedUntil(policy, message, now, received)?.toISOString() ?? null).toBe(until)
  })
})
