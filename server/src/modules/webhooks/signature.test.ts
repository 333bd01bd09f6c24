import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { anyCodePoints } from '../../../test/arbitrary-text.ts'
import { signer, verifySignature } from './signature.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const RAW_SECRET = 'a-caller-supplied-secret'
const EVENT = 'evt_01KAFW6V7Q3M8Z5N4P2R9S0T1X'
const NOW = new Date('2026-11-21T02:56:21.664Z')
const BODY =
  '{"id":"evt_01KAFW6V7Q3M8Z5N4P2R9S0T1X","type":"delivery.delivered","timestamp":"2026-11-20T02:56:21.664Z","project_id":42,"api_version":"2026-11-20","data":{"attempt":1}}'

describe('the test vector', () => {
  const now = new Date(1_795_229_781_664)

  test('with a generated secret', () => {
    expect(Buffer.byteLength(BODY)).toBe(170)
    expect(signer([SECRET])(EVENT, BODY, now)).toEqual({
      'service-signature': 't=1795229781,v1=79fbc9a8e4aa0250025b0247d38f2047b6a2f90b20889adf29da7aa704735ba0',
      'webhook-id': EVENT,
      'webhook-timestamp': '1795229781',
      'webhook-signature': 'v1,BaV5ZNvHlTbTrcVx2kg67LUsljpKiyxpfbeAgN5R1Hw=',
    })
  })

  test('with a secret of the caller', () => {
    expect(signer([RAW_SECRET])(EVENT, BODY, now)['service-signature']).toBe(
      't=1795229781,v1=ea10556225534c1b01a71cfb058f707a98aabbbb382ba5b69ecd6338e5d395aa',
    )
  })
})

describe('the headers of Standard Webhooks', () => {
  // The library can sign for a given time, but checks the age against the system’s clock.
  const signedByLibrary = (webhook: Webhook, body: string) => webhook.sign(EVENT, NOW, body)

  test.each([
    ['a generated secret', SECRET, new Webhook(SECRET)],
    ['a secret of the caller', RAW_SECRET, new Webhook(RAW_SECRET, { format: 'raw' })],
    ['a secret that only looks generated', 'whsec_not-base64-at-all', new Webhook('whsec_not-base64-at-all', { format: 'raw' })],
    ['only a prefix', 'whsec_', new Webhook('whsec_', { format: 'raw' })],
  ])('are those of its library for %s', (_, secret, webhook) => {
    expect(signer([secret])(EVENT, BODY, NOW)['webhook-signature']).toBe(signedByLibrary(webhook, BODY))
  })

  test('contain one signature for each valid secret, newest first', () => {
    const both = signer([RAW_SECRET, SECRET])(EVENT, BODY, NOW)
    const raw = new Webhook(RAW_SECRET, { format: 'raw' })
    expect(both['webhook-signature']).toBe(`${signedByLibrary(raw, BODY)} ${signedByLibrary(new Webhook(SECRET), BODY)}`)
  })

  test('agree with the library for any secret and body', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), anyCodePoints, (bytes, body) => {
        const secret = `whsec_${Buffer.from(bytes).toString('base64')}`
        expect(signer([secret])(EVENT, body, NOW)['webhook-signature']).toBe(signedByLibrary(new Webhook(secret), body))
      }),
    )
  })
})

describe('a receiver', () => {
  const signed = (secrets: string[]) => signer(secrets)(EVENT, BODY, NOW)['service-signature'] ?? ''
  const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1000)

  test.each<[string, boolean, string, string, string, Date]>([
    ['accepts a valid signature', true, signed([SECRET]), BODY, SECRET, NOW],
    ['accepts the older of two secrets', true, signed([RAW_SECRET, SECRET]), BODY, SECRET, NOW],
    ['ignores unknown schemes', true, `${signed([SECRET])},v2=abc`, BODY, SECRET, NOW],
    ['accepts an age of five minutes', true, signed([SECRET]), BODY, SECRET, later(300)],
    ['refuses an older signature', false, signed([SECRET]), BODY, SECRET, later(301)],
    ['refuses a signature from the future', false, signed([SECRET]), BODY, SECRET, later(-301)],
    ['refuses another body', false, signed([SECRET]), `${BODY} `, SECRET, NOW],
    ['refuses another secret', false, signed([SECRET]), BODY, `${SECRET}x`, NOW],
    ['refuses another time', false, signed([SECRET]).replace(/t=\d+/, (t) => `${t.slice(0, -1)}0`), BODY, SECRET, NOW],
    ['refuses a truncated signature', false, signed([SECRET]).slice(0, -2), BODY, SECRET, NOW],
    ['refuses a time that is not a number', false, signed([SECRET]).replace('t=', 't=-'), BODY, SECRET, NOW],
    ['refuses an empty header', false, '', BODY, SECRET, NOW],
  ])('%s', (_, expected, header, body, secret, now) => expect(verifySignature(header, body, secret, now)).toBe(expected))
})
