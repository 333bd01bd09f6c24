import { describe, expect, test } from 'vitest'
import type { Answered, Failed } from '../../infra/outgoing/safe-fetch.ts'
import * as providerHttp from './provider-http.ts'

const now = new Date('2026-11-23T09:00:00Z')
const answered = (status: number, body = '', headers: Answered['headers'] = {}): Answered => ({
  is: 'answered',
  status,
  headers,
  body,
  elapsedMs: 1,
})

describe('a status without a known error code', () => {
  test.each([
    [200, false, 'accepted'],
    [204, false, 'accepted'],
    [301, false, 'deferred'],
    [308, false, 'deferred'],
    [399, false, 'deferred'],
    [400, false, 'rejected'],
    [401, false, 'deferred'],
    [402, false, 'deferred'],
    [403, false, 'deferred'],
    [404, false, 'rejected'],
    [408, false, 'deferred'],
    [425, false, 'deferred'],
    [429, false, 'deferred'],
    [500, false, 'deferred'],
    [503, false, 'deferred'],
    [502, false, 'uncertain'],
    [504, false, 'uncertain'],
    [520, false, 'uncertain'],
    [521, false, 'deferred'],
    [522, false, 'deferred'],
    [524, false, 'uncertain'],
    [502, true, 'deferred'],
    [504, true, 'deferred'],
    [520, true, 'deferred'],
    [524, true, 'deferred'],
  ])('%i of a provider that is idempotent: %s', (status, isIdempotent, expected) => {
    expect(providerHttp.byStatus(answered(status), now, isIdempotent).is).toBe(expected)
  })

  test.each([
    ['', 'The provider responded with status 400.'],
    ['<html>\0\n no </html>', '<html> no </html>'],
    ['{"message":"m","code":1}', 'm'],
    ['{"errors":[{"detail":"d"}]}', 'd'],
    ['{"errors":[{"code":2,"description":"e"}]}', 'e'],
    ['{"error":{"message":"f"}}', 'f'],
    ['{"error":"g"}', 'g'],
    ['{"code":1}', '{"code":1}'],
    ['x'.repeat(1000), 'x'.repeat(300)],
    [`${'x'.repeat(299)}😀`, `${'x'.repeat(299)}\ufffd`],
  ])('has the message of the provider as its reason: %.40s', (body, reason) => {
    expect(providerHttp.byStatus(answered(400, body), now, false)).toMatchObject({ reason })
  })
})

test.each([
  ['7', '2026-11-23T09:00:07.000Z'],
  ['Mon, 23 Nov 2026 09:05:00 GMT', '2026-11-23T09:05:00.000Z'],
  ['999999999', '2026-11-24T09:00:00.000Z'],
  ['0', undefined],
  ['-5', undefined],
  ['Mon, 23 Nov 2026 08:00:00 GMT', undefined],
  ['soon', undefined],
  [undefined, undefined],
])('Retry-After: %s', (header, expected) => {
  expect(providerHttp.retryAt({ 'retry-after': header }, now).retryAt?.toISOString()).toBe(expected)
})

test.each([
  ['refused', true, false, 'deferred'],
  ['timeout', true, false, 'deferred'],
  ['reset', true, false, 'deferred'],
  ['other', true, false, 'deferred'],
  ['timeout', false, false, 'uncertain'],
  ['reset', false, false, 'uncertain'],
  ['tls', false, false, 'uncertain'],
  ['other', false, false, 'uncertain'],
  ['reset', false, true, 'deferred'],
] as const)('a request that fails with %s, unsent %s, idempotent %s: %s', (reason, isUnsent, isIdempotent, expected) => {
  const failed: Failed = { is: 'failed', reason, message: 'm', elapsedMs: 1, ...(isUnsent && { isUnsent }) }
  expect(providerHttp.failureOf(failed, isIdempotent)).toMatchObject({ is: expected, reason: 'm' })
})

test.each([
  ['1795424400', true],
  ['1795424100', true],
  ['1795424700', true],
  ['1795424099', false],
  ['1795424701', false],
  ['', false],
  ['NaN', false],
  ['1795424400000', false],
])('the time %s is recent: %s', (seconds, expected) => expect(providerHttp.isRecent(seconds, now)).toBe(expected))

test.each([
  ['42', { messageId: 42 }],
  ['0', {}],
  ['-1', {}],
  ['1e3', {}],
  ['99999999999999999999', {}],
  [undefined, {}],
  [null, {}],
])('the message id in %s', (text, expected) => expect(providerHttp.messageIdOf(text)).toEqual(expected))

test.each([
  ['61400000000', '+61400000000'],
  ['+61400000000', '+61400000000'],
  ['Carillon', 'Carillon'],
  ['12345', '12345'],
])('the number %s', (number, expected) => expect(providerHttp.withPlus(number)).toBe(expected))

test('text in XML is escaped', () => {
  expect(providerHttp.xmlOf('Tom & "Kim" <b>\0\u0007\ud800🔔')).toBe('Tom &amp; &quot;Kim&quot; &lt;b&gt;🔔')
})

test('text of a provider can be stored', () => {
  expect(providerHttp.received(now, 'a\0b', { address: '+61400000000', reference: undefined })).toEqual({
    what: 'received',
    at: now,
    text: 'ab',
    address: '+61400000000',
  })
  expect(providerHttp.details({ code: 30005, diagnostic: 'x\0y', address: '' })).toEqual({ code: '30005', diagnostic: 'x y' })
})
