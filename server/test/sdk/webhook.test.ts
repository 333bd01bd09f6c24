/** The client verifies what the server signs. */
import { createHmac, webcrypto } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { verifyWebhook, WebhookError, type WebhookHeaders } from '../../../sdk/src/index.ts'
import type { ReceivedRequest } from '../receiver.ts'
import { type World, world } from '../world.ts'

const NOW_MS = 1_795_229_781_664
const now = () => NOW_MS
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const BODY = '{"id":"evt_1","type":"delivery.delivered","timestamp":"2026-11-20T02:56:21.664Z","data":{"from":"Zoë"}}'

const signatureOf = (body: string | Buffer, secret: string, time: string) =>
  createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex')
const headerOf = (body: string | Buffer = BODY, secret = SECRET, time = '1795229781') => `t=${time},v1=${signatureOf(body, secret, time)}`
const signed = (...given: Parameters<typeof headerOf>) => ({ 'Service-Signature': headerOf(...given) })

/** Why a request is refused. */
const reasonOf = async (body: string | Uint8Array, headers: WebhookHeaders, secrets: string | string[] = SECRET, toleranceS?: number) => {
  const options = toleranceS === undefined ? { now } : { now, toleranceS }
  const error = await verifyWebhook(body, headers, secrets, options).catch((error: unknown) => error)
  return error instanceof WebhookError ? error.reason : error
}

/** Sends the event of a test to a receiver, and returns the request. */
async function requestOf(w: World, endpoint: string, requests: ReceivedRequest[]): Promise<ReceivedRequest> {
  await w.post(`${endpoint}/test`, { event_type: 'delivery.delivered' })
  await w.drain()
  return requests.at(-1) as ReceivedRequest
}

describe('a request of the server', () => {
  let first: ReceivedRequest
  let second: ReceivedRequest
  let secrets: { old: string; new: string }
  let atMs: number
  beforeAll(async () => {
    await using w = await world()
    const receiver = await w.receiver()
    const input = { name: 'Log', url: receiver.url, event_types: ['delivery.delivered'] }
    const { body } = await w.post('/api/client/webhooks', input)
    const endpoint = `/api/client/webhooks/${body.id}`
    first = await requestOf(w, endpoint, receiver.requests)
    const rotated = await w.post(`${endpoint}/rotate-secret`, {})
    secrets = { old: body.signing_secret, new: rotated.body.signing_secret }
    second = await requestOf(w, endpoint, receiver.requests)
    atMs = w.clock.now().getTime()
  })

  test('is accepted with its secret, and gives the event with its type', async () => {
    const event = await verifyWebhook(first.body, first.headers, secrets.old, { now: () => atMs })
    expect(event).toEqual(first.json)
    // The type tells which members `data` has.
    if (event.type !== 'delivery.delivered') throw new Error(`It is ${event.type}.`)
    expect(event.data.channel).toBe('email')
  })

  test('is refused with the new secret if it was signed before the rotation', async () => {
    await expect(verifyWebhook(first.body, first.headers, secrets.new, { now: () => atMs })).rejects.toMatchObject({ reason: 'invalid' })
  })

  test('is accepted with either secret, or both, after a rotation', async () => {
    for (const given of [secrets.old, secrets.new, [secrets.new, secrets.old], ['whsec_another', secrets.old]]) {
      expect(await verifyWebhook(second.body, second.headers, given, { now: () => atMs })).toEqual(second.json)
    }
  })

  test.each<[string, (request: ReceivedRequest) => WebhookHeaders]>([
    ['headers of a fetch request', ({ headers }) => new Headers(headers)],
    ['headers in capitals', ({ headers }) => ({ 'Service-Signature': headers['service-signature'] })],
    ['headers with several values', ({ headers }) => ({ 'service-signature': [headers['service-signature'] ?? ''] })],
  ])('is accepted with %s', async (_, headersOf) => {
    expect(await verifyWebhook(first.body, headersOf(first), secrets.old, { now: () => atMs })).toEqual(first.json)
  })
})

test('a body is verified as bytes or as text, and characters beyond ASCII count as they were sent', async () => {
  expect(await verifyWebhook(BODY, signed(), SECRET, { now })).toEqual(JSON.parse(BODY))
  expect(await verifyWebhook(Buffer.from(BODY), signed(), SECRET, { now })).toEqual(JSON.parse(BODY))
  expect(await reasonOf(Buffer.from(BODY, 'latin1'), signed())).toBe('invalid')
})

test.each<[string, string, WebhookHeaders, string | string[], string]>([
  ['another body', BODY.replace('evt_1', 'evt_2'), signed(), SECRET, 'invalid'],
  ['an empty body', '', signed(), SECRET, 'invalid'],
  ['another secret', BODY, signed(), 'whsec_another', 'invalid'],
  ['a time that was not signed', BODY, { 'service-signature': headerOf().replace('t=1795229781', 't=1795229782') }, SECRET, 'invalid'],
  ['no header', BODY, {}, SECRET, 'missing'],
  ['no header of ours', BODY, new Headers({ 'webhook-signature': 'v1,x' }), SECRET, 'missing'],
  ['an empty header', BODY, { 'service-signature': '' }, SECRET, 'invalid'],
  ['no time', BODY, { 'service-signature': headerOf().split(',')[1] }, SECRET, 'invalid'],
  ['a time that is no number', BODY, signed(BODY, SECRET, '1795229781e0'), SECRET, 'invalid'],
  ['no signature', BODY, { 'service-signature': 't=1795229781' }, SECRET, 'invalid'],
  ['a signature that is cut', BODY, { 'service-signature': headerOf().slice(0, -1) }, SECRET, 'invalid'],
  ['a signature in another scheme', BODY, { 'service-signature': headerOf().replace('v1=', 'v0=') }, SECRET, 'invalid'],
])('a request with %s is refused', async (_, body, headers, secrets, reason) => {
  expect(await reasonOf(body, headers, secrets)).toBe(reason)
})

test.each<[number, number | undefined, string | undefined]>([
  [-300, undefined, undefined],
  [-301, undefined, 'expired'],
  [300, undefined, undefined],
  [301, undefined, 'expired'],
  [-10, 10, undefined],
  [-11, 10, 'expired'],
])('a time of %i seconds from now with a tolerance of %s: %s', async (seconds, toleranceS, reason) => {
  const time = String(Math.floor(NOW_MS / 1000) + seconds)
  expect(await reasonOf(BODY, signed(BODY, SECRET, time), SECRET, toleranceS)).toEqual(reason ?? JSON.parse(BODY))
})

test.each<[string | string[]]>([[''], [[]], [[SECRET, '']], [undefined as never], [[undefined as never]]])(
  'without a secret (%j) nothing is verified, not even what is signed with an empty one',
  async (secrets) => {
    await expect(verifyWebhook(BODY, signed(BODY, ''), secrets, { now })).rejects.toThrow('missing or empty')
  },
)

test('the Web Crypto of the caller is used where the platform has none', async () => {
  const crypto = webcrypto as typeof globalThis.crypto
  expect(await verifyWebhook(BODY, signed(), SECRET, { now, crypto })).toEqual(JSON.parse(BODY))
})
