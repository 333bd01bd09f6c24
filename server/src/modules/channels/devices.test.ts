import { expect, test } from 'vitest'
import { deadToken, joinResponses, type PushService, serviceOf } from './devices.ts'
import type { ProviderResponse } from './provider.ts'

const HEX = '0a1b2c3d'.repeat(8)
const FIREBASE = `cX1:APA91b${'x'.repeat(130)}`
const BROWSER = '{"endpoint":"https://push.example.com/1"}'

test.each<[string | null, string, PushService | null]>([
  ['iOS', 't', 'apns'],
  ['iPadOS 26.1', 't', 'apns'],
  ['macOS', 't', 'apns'],
  ['Mac OS X', 't', 'apns'],
  ['Android', 't', 'fcm'],
  ['android 16', 't', 'fcm'],
  ['web', 't', 'web_push'],
  [null, HEX, 'apns'],
  [null, HEX.toUpperCase(), 'apns'],
  [null, FIREBASE, 'fcm'],
  [null, BROWSER, 'web_push'],
  [null, 't', null],
  ['Windows', 't', null],
  ['Windows', BROWSER, 'web_push'],
  ['macOS', BROWSER, 'web_push'],
  ['iOS', FIREBASE, 'fcm'],
])('a device with %s and the token %.12s is served by %s', (os, token, expected) => {
  expect(serviceOf({ device_id: 'd', os, token })).toBe(expected)
})

const accepted: ProviderResponse = { is: 'accepted', delivered: false, reference: 'r' }
const deferred = (minutes?: number): ProviderResponse => ({
  is: 'deferred',
  reason: 'later',
  ...(minutes !== undefined && { retryAt: new Date(Date.UTC(2026, 0, 1, 0, minutes)) }),
})
const uncertain: ProviderResponse = { is: 'uncertain', reason: 'lost' }
const refused: ProviderResponse = { is: 'rejected', reason: 'too large', code: '413' }

test.each<[string, ProviderResponse[], ProviderResponse]>([
  ['no device', [], { is: 'rejected', reason: 'no_push_device' }],
  ['all dead', [deadToken('a', 'gone'), deadToken('b', 'gone')], { is: 'rejected', reason: 'no_push_device', deadTokens: ['a', 'b'] }],
  ['one of two dead', [deadToken('a', 'gone'), accepted], { ...accepted, deadTokens: ['a'] } as ProviderResponse],
  ['one of two refused', [refused, accepted], accepted],
  ['one of two deferred', [deferred(1), accepted], accepted],
  ['one of two uncertain', [uncertain, accepted], accepted],
  ['one uncertain, one deferred', [deferred(1), uncertain], uncertain],
  ['one deferred, one refused', [refused, deferred()], deferred()],
  ['two deferred: the later time', [deferred(1), deferred(5), deferred()], deferred(5)],
  ['one refused, one dead', [deadToken('a', 'gone'), refused], { ...refused, deadTokens: ['a'] } as ProviderResponse],
])('%s', (_, outcomes, expected) => expect(joinResponses(outcomes)).toEqual(expected))
