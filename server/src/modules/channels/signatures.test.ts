/** Example signatures that providers publish, so that the tests do not depend on our own signing code. */
import { expect, test } from 'vitest'
import { createTestClock } from '../../../test/test-clock.ts'
import type { Callback, ProviderTools } from './provider.ts'
import { messagebird } from './providers/messagebird.ts'
import { twilio } from './providers/twilio.ts'

const outside = (now: string) => ({ clock: createTestClock(new Date(now)) }) as unknown as ProviderTools

function callback(url: string, headers: Record<string, string>, body: string): Callback {
  return { url, headers, query: new URL(url).searchParams, body: Buffer.from(body) }
}

const TWILIO_URL = 'https://mycompany.com/myapp.php?foo=1&bar=2'
const TWILIO_FORM = {
  CallSid: 'CA1234567890ABCDE',
  Caller: '+14158675309',
  Digits: '1234',
  From: '+14158675309',
  To: '+18005551212',
}

test.each([
  ['RSOYDt4T1cUTdK1PDd93/VVr8B8=', TWILIO_FORM, 'read'],
  ['RSOYDt4T1cUTdK1PDd93/VVr8B8=', { ...TWILIO_FORM, Digits: '1235' }, 'unverified'],
  ['', TWILIO_FORM, 'unverified'],
])('Twilio: %s', async (signature, form, expected) => {
  const settings = { account_sid: 'AC', auth_token: '12345', from: 'x' }
  const call = callback(TWILIO_URL, { 'x-twilio-signature': signature }, String(new URLSearchParams(form)))
  expect(await twilio.read?.(settings, call, outside('2026-01-01T00:00:00Z'))).toMatchObject({ is: expected })
})

const BIRD_KEY = '36efdd1aace2e26cd490f0d951138253bef2f7c6d34d18981da781555cc4cebb'
const BIRD_TOKEN =
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJNZXNzYWdlQmlyZCIsIm5iZiI6MTYyNTQ3OTIwMCwiZXhwIjoxNjI1NDc5MjYwLCJqdGkiOiI5M2U1NTAwNi1hMGU4LTQ1MjYtYTE5MC1mYTVmZjAwZWExMTYiLCJ1cmxfaGFzaCI6IjQxZjA1ZjBkZGQwYTIyYWIyMDlhYzQ2ZjQ3YzQ1NzJkOWNlZmEyNTdlZDc0YjI0MDA0YmFlNzUzZWNlNmMyNjAiLCJwYXlsb2FkX2hhc2giOiJkZmZkNjAyMWJiMmJkNWIwYWY2NzYyOTA4MDllYzNhNTMxOTFkZDgxYzdmNzBhNGIyODY4OGEzNjIxODI5ODZmIn0._H--TOuYFLpeEH39-rg5E3IHVkjHozBcaKVWPRC5m9I'
const BIRD_URL = 'https://example.com/path?bar=1&foo=2'

test.each([
  [BIRD_URL, 'Hello, World!', '2021-07-05T10:00:30Z', 'read'],
  [BIRD_URL, 'Hello, World?', '2021-07-05T10:00:30Z', 'unverified'],
  ['https://example.com/path?bar=1&foo=3', 'Hello, World!', '2021-07-05T10:00:30Z', 'unverified'],
  [BIRD_URL, 'Hello, World!', '2021-07-05T10:02:00Z', 'unverified'],
  [BIRD_URL, 'Hello, World!', '2021-07-05T09:59:00Z', 'unverified'],
])('MessageBird: %s %s at %s', async (url, body, now, expected) => {
  const settings = { access_key: 'x', signing_key: BIRD_KEY, from: 'x' }
  expect(await messagebird.read?.(settings, callback(url, { 'messagebird-signature-jwt': BIRD_TOKEN }, body), outside(now))).toMatchObject({
    is: expected,
  })
})
