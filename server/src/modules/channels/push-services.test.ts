/** The protocols of push services: HTTP/2 over TLS, signed tokens, and payloads that only the browser can decrypt. */
import { createECDH, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { createSecureServer, type IncomingHttpHeaders } from 'node:http2'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { jwtVerify } from 'jose'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import library from 'web-push'
import { createTestClock, type TestClock } from '../../../test/test-clock.ts'
import { issueCertificate, loadOrCreateAuthority } from '../../infra/outgoing/dev-authority.ts'
import { createSafeFetch } from '../../infra/outgoing/safe-fetch.ts'
import { egressPolicy } from '../../lib/egress.ts'
import type { MessageId } from '../../lib/ids.ts'
import type { Outgoing, ProviderTools, PushTarget } from './provider.ts'
import { apns } from './providers/apns.ts'
import { fcm } from './providers/fcm.ts'
import { webPush } from './providers/web-push.ts'

type Seen = { version: string; path: string; headers: IncomingHttpHeaders; body: Buffer }
type Answer = { status: number; headers?: Record<string, string>; body?: string }

let closing: AsyncDisposableStack
let clock: TestClock
let outside: ProviderTools
let origin: string
let seen: Seen[]
let connections: number
let answer: (seen: Seen) => Answer

/** A push service on loopback that only supports HTTP/2. Requests to hosts of Google go to it too. */
beforeEach(async () => {
  closing = new AsyncDisposableStack()
  clock = createTestClock()
  seen = []
  connections = 0
  answer = () => ({ status: 200, body: '{}' })
  const now = new Date(performance.timeOrigin)
  const authority = await loadOrCreateAuthority(inject('authorityDir'), now)
  const server = createSecureServer(await issueCertificate(authority, ['127.0.0.1'], now), async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const one = { version: request.httpVersion, path: request.url, headers: request.headers, body: Buffer.concat(chunks) }
    seen.push(one)
    const { status, headers = {}, body = '' } = answer(one)
    response.writeHead(status, headers).end(body)
  })
  server.on('secureConnection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.defer(() => void server.close())
  origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = closing.use(createSafeFetch({ policy: egressPolicy(['127.0.0.0/8']), ca: [authority.cert], userAgent: 'Carillon/1.0' }))
  const request: typeof client.request = (request) =>
    client.request({ ...request, http2: true, url: request.url.replace(/^https:\/\/[a-z0-9]+\.googleapis\.com/, origin) })
  outside = { fetch: { ...client, request }, clock, baseUrl: '', callbackUrl: '' } as unknown as ProviderTools
})
afterEach(() => closing.disposeAsync())

const message = (devices: PushTarget[], key = 'k-1'): Outgoing => ({
  id: 1 as MessageId,
  key,
  channel: 'push',
  recipient: 'ana',
  summary: 'Hello',
  content: { title: 'Hello', body: 'Ana ♥', url: 'https://example.com/' },
  headers: {},
  devices,
})

describe('APNs', () => {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const phone = { device_id: 'phone', os: 'iOS', token: 'a1'.repeat(32) }
  const tablet = { device_id: 'tablet', os: 'iPadOS', token: 'b2'.repeat(32) }
  const settings = (key_id: string) => ({
    team_id: 'TEAM000001',
    key_id,
    private_key: keys.privateKey.export({ format: 'pem', type: 'pkcs8' }) as string,
    bundle_id: 'com.example.app',
    host: new URL(origin).host,
  })
  const tokensSeen = () => [...new Set(seen.map(({ headers }) => String(headers.authorization)))]

  test('gets requests over one HTTP/2 connection, with a valid token', async () => {
    await Promise.all(Array.from({ length: 10 }, (_, n) => apns.send(settings('KEY0000001'), message([phone, tablet], `k-${n}`), outside)))
    expect(seen).toHaveLength(20)
    expect(new Set(seen.map(({ version }) => version))).toEqual(new Set(['2.0']))
    expect(connections).toBe(1)
    const [authorization = ''] = tokensSeen()
    const { payload, protectedHeader } = await jwtVerify(authorization.replace('bearer ', ''), keys.publicKey, { currentDate: clock.now() })
    expect(protectedHeader).toEqual({ alg: 'ES256', kid: 'KEY0000001' })
    expect(payload).toEqual({ iss: 'TEAM000001', iat: clock.now().getTime() / 1000 })
    expect(JSON.parse(String(seen[0]?.body))).toEqual({
      aps: { alert: { title: 'Hello', body: 'Ana ♥' }, sound: 'default' },
      url: 'https://example.com/',
    })
  })

  test('gets the same token for fifty minutes, and another at once after one has expired', async () => {
    const send = () => apns.send(settings('KEY0000002'), message([phone]), outside)
    await send()
    clock.advance('49 minutes')
    await send()
    expect(tokensSeen()).toHaveLength(1)
    clock.advance('1 minute')
    await send()
    expect(tokensSeen()).toHaveLength(2)
    answer = () => ({ status: 403, body: '{"reason":"ExpiredProviderToken"}' })
    expect(await send()).toMatchObject({ is: 'deferred', reason: 'ExpiredProviderToken' })
    clock.advance('1 minute')
    await send()
    expect(tokensSeen()).toHaveLength(3)
  })

  test('gets the same unique id for every attempt of a message to a device', async () => {
    for (const key of ['k-1', 'k-1', 'k-2']) await apns.send(settings('KEY0000003'), message([phone, tablet], key), outside)
    const ids = Map.groupBy(seen, ({ headers }) => String(headers['apns-id']))
    const meant = [...ids.values()].map((same) => same.map(({ path, headers }) => `${headers['apns-collapse-id']} ${path.slice(-2)}`))
    expect(meant.map((same) => same.join()).sort()).toEqual(['k-1 a1,k-1 a1', 'k-1 b2,k-1 b2', 'k-2 a1', 'k-2 b2'])
    for (const { headers } of seen) expect(headers['apns-id']).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(seen.map(({ headers }) => headers['apns-collapse-id'])).toEqual(['k-1', 'k-1', 'k-1', 'k-1', 'k-2', 'k-2'])
  })

  test('the message reaches one device if the other no longer exists', async () => {
    answer = ({ path }) => (path.endsWith(phone.token) ? { status: 410, body: '{"reason":"Unregistered"}' } : { status: 200 })
    expect(await apns.send(settings('KEY0000004'), message([phone, tablet]), outside)).toEqual({
      is: 'accepted',
      delivered: false,
      deadTokens: [phone.token],
    })
  })
})

describe('FCM', () => {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pixel = { device_id: 'pixel', os: 'Android', token: 'a-token-of-firebase' }
  const settings = (name: string) => ({
    service_account: JSON.stringify({
      project_id: 'shop-1',
      client_email: `${name}@shop-1.iam.gserviceaccount.com`,
      private_key: keys.privateKey.export({ format: 'pem', type: 'pkcs8' }),
      token_uri: 'https://oauth2.googleapis.com/token',
    }),
  })
  const asked = () => seen.filter(({ path }) => path === '/token')
  const issue = ({ path }: Seen): Answer =>
    path === '/token'
      ? { status: 200, body: JSON.stringify({ access_token: `t${asked().length}`, expires_in: 3600 }) }
      : { status: 200, body: '{"name":"projects/shop-1/messages/1"}' }

  test('issues an access token for a valid assertion', async () => {
    answer = issue
    expect(await fcm.send(settings('one'), message([pixel]), outside)).toMatchObject({
      is: 'accepted',
      reference: 'projects/shop-1/messages/1',
    })
    const assertion = new URLSearchParams(String(asked()[0]?.body)).get('assertion') ?? ''
    const audience = 'https://oauth2.googleapis.com/token'
    const { payload } = await jwtVerify(assertion, createPublicKey(keys.publicKey.export({ format: 'pem', type: 'spki' })), {
      audience,
      currentDate: clock.now(),
    })
    const seconds = clock.now().getTime() / 1000
    expect(payload).toEqual({
      iss: 'one@shop-1.iam.gserviceaccount.com',
      scope: 'https://www.googleapis.com/auth/firebase.messaging',
      aud: audience,
      iat: seconds,
      exp: seconds + 3600,
    })
  })

  test('simultaneous requests share a token until it expires or is refused', async () => {
    answer = issue
    const send = () => fcm.send(settings('two'), message([pixel]), outside)
    await Promise.all([send(), send(), send()])
    expect(asked()).toHaveLength(1)
    clock.advance('54 minutes')
    await send()
    expect(asked()).toHaveLength(1)
    clock.advance('1 minute')
    await send()
    expect(asked()).toHaveLength(2)
    answer = (one) => (one.path === '/token' ? issue(one) : { status: 401, body: '{"error":{"status":"UNAUTHENTICATED","message":"no"}}' })
    expect(await send()).toMatchObject({ is: 'deferred', reason: 'no' })
    answer = issue
    expect(await send()).toMatchObject({ is: 'accepted' })
    expect(asked()).toHaveLength(3)
  })
})

describe('Web Push', () => {
  // http_ece, which web-push uses for encryption, has no types.
  const ece = createRequire(import.meta.url)('http_ece') as { decrypt(data: Buffer, options: object): Buffer }
  const vapid = library.generateVAPIDKeys()
  const settings = { subject: 'mailto:push@example.com', public_key: vapid.publicKey, private_key: vapid.privateKey }

  function browser(path = '/push/1') {
    const keys = createECDH('prime256v1')
    const p256dh = keys.generateKeys('base64url')
    const auth = randomBytes(16).toString('base64url')
    const token = JSON.stringify({ endpoint: origin + path, expirationTime: null, keys: { p256dh, auth } })
    return { keys, auth, device: { device_id: path, os: 'web', token } }
  }

  test('only the browser can decrypt the message', async () => {
    const { keys, auth, device } = browser()
    answer = () => ({ status: 201, headers: { location: '/message/1' } })
    expect(await webPush.send(settings, message([device]), outside)).toEqual({ is: 'accepted', delivered: false, reference: '/message/1' })
    const [{ body, headers }] = seen as [Seen]
    expect(body.includes('Ana')).toBe(false)
    expect(headers).toMatchObject({ 'content-encoding': 'aes128gcm', ttl: '2419200' })
    const options = { version: 'aes128gcm', privateKey: keys, authSecret: auth }
    expect(JSON.parse(String(ece.decrypt(body, options)))).toEqual({ title: 'Hello', body: 'Ana ♥', url: 'https://example.com/' })
    expect(() => ece.decrypt(body, { ...options, privateKey: browser().keys })).toThrow()
  })

  test('the push service gets a token that is only for it', async () => {
    await webPush.send(settings, message([browser().device]), outside)
    const [, token = '', key = ''] = /^vapid t=(.+), k=(.+)$/.exec(String(seen[0]?.headers.authorization)) ?? []
    expect(key).toBe(vapid.publicKey)
    const raw = Buffer.from(key, 'base64url')
    const jwk = { kty: 'EC', crv: 'P-256', x: raw.subarray(1, 33).toString('base64url'), y: raw.subarray(33).toString('base64url') }
    const { payload } = await jwtVerify(token, createPublicKey({ key: jwk, format: 'jwk' }))
    expect(payload).toMatchObject({ aud: origin, sub: 'mailto:push@example.com' })
  })

  test('a repeated message replaces only the pending one', async () => {
    const { device } = browser()
    for (const key of ['k-1', 'k-1', 'k-2']) await webPush.send(settings, message([device], key), outside)
    const topics = seen.map(({ headers }) => String(headers.topic))
    expect(topics[0]).toMatch(/^[\w-]{32}$/)
    expect(topics[1]).toBe(topics[0])
    expect(topics[2]).not.toBe(topics[0])
  })

  /** Every name resolves to a private address, as in a sinkhole. */
  async function sendOutside(endpoint: string) {
    const lookup = async () => [{ address: '10.0.0.1', family: 4 }]
    await using fetch = createSafeFetch({ policy: egressPolicy([]), ca: [], userAgent: 'Carillon/1.0', lookup })
    const { device } = browser()
    const token = device.token.replace(origin, endpoint)
    return { token, outcome: await webPush.send(settings, message([{ ...device, token }]), { ...outside, fetch }) }
  }

  test.each(['https://10.0.0.1', 'https://[fd00::1]', 'https://push.example.com:22', 'https://localhost', 'https://push.localhost.:8443'])(
    'the endpoint %s can be no push service, so it is not called and its token is dead',
    async (endpoint) => {
      const { token, outcome } = await sendOutside(endpoint)
      expect(outcome).toEqual({ is: 'rejected', reason: 'no_push_device', deadTokens: [token] })
    },
  )

  test('a token is not dead because its push service resolves to a private address', async () => {
    const { outcome } = await sendOutside('https://push.example.com')
    expect(outcome).toMatchObject({ is: 'deferred', code: 'blocked' })
    expect(outcome).not.toHaveProperty('deadTokens')
  })

  test.each([
    ['the keys of two pairs', { private_key: library.generateVAPIDKeys().privateKey }],
    ['no key', { private_key: 'AAAA' }],
  ])('%s are refused', async (_, change) => {
    expect(webPush.check?.({ ...settings, ...change })).toMatchObject([{ param: 'private_key' }])
    expect(await webPush.test({ ...settings, ...change }, outside)).toMatchObject({ works: false })
  })

  test.each(['https://', 'https://exa mple.com'])('the subject %s is refused, and no token is dead because of it', async (subject) => {
    expect(webPush.check?.({ ...settings, subject })).toMatchObject([{ param: 'subject' }])
    expect(await webPush.test({ ...settings, subject }, outside)).toMatchObject({ works: false })
    const outcome = await webPush.send({ ...settings, subject }, message([browser().device]), outside)
    expect(outcome).toMatchObject({ is: 'deferred', reason: expect.stringContaining('`subject`') })
    expect(outcome).not.toHaveProperty('deadTokens')
  })

  test('keys in standard Base64, and a private key that starts with zeros that were left out, work too', async () => {
    const private_key = Buffer.from([...new Array(30).fill(0), 1, 2]).toString('base64url')
    const pair = createECDH('prime256v1')
    pair.setPrivateKey(Buffer.from(private_key, 'base64url'))
    const public_key = pair.getPublicKey('base64')
    expect(public_key).toMatch(/=$/)
    const odd = { ...settings, public_key, private_key: pair.getPrivateKey('base64') }
    expect(odd.private_key).toBe('AQI=')
    expect(webPush.check?.(odd)).toEqual([])
    expect(await webPush.send(odd, message([browser().device]), outside)).toMatchObject({ is: 'accepted' })
    expect(String(seen[0]?.headers.authorization)).toMatch(new RegExp(`, k=${pair.getPublicKey('base64url')}$`))
  })
})

test.each([
  ['a key that is not PEM', { private_key: 'x' }, 'private_key'],
  ['a key on another curve', { private_key: pem('secp384r1') }, 'private_key'],
  ['a host with a path', { private_key: pem('P-256'), host: 'https://example.com/' }, 'host'],
  ['an invalid host', { private_key: pem('P-256'), host: 'a:b:c' }, 'host'],
])('APNs with %s is refused', (_, change, param) => {
  const settings = { team_id: 'TEAM000001', key_id: 'KEY0000001', bundle_id: 'a', ...change }
  expect(apns.check?.(settings)).toMatchObject([{ param }])
})

test.each(['x', '{}', '[]', JSON.stringify({ project_id: 'a', client_email: 'b', private_key: 'c' })])('FCM with %s is refused', (text) => {
  expect(fcm.check?.({ service_account: text })).toMatchObject([{ param: 'service_account' }])
})

function pem(namedCurve: string): string {
  return generateKeyPairSync('ec', { namedCurve }).privateKey.export({ format: 'pem', type: 'pkcs8' }) as string
}
