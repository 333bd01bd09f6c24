/** Users can have an iPhone and a browser. A push message goes to both, each over its push service. */
import { createECDH, generateKeyPairSync, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { type World, world } from '../../../test/world.ts'
import type { MessageId } from '../../lib/ids.ts'
import { connectProvider, type Outgoing, type PushTarget } from './index.ts'

const pushed = (devices: PushTarget[]): Outgoing => ({
  id: 1 as MessageId,
  key: 'k-1',
  channel: 'push',
  recipient: 'ana',
  summary: 'Hi',
  content: { title: 'Hi', body: 'There' },
  headers: {},
  devices,
})

/** Creates providers for iPhones and for browsers, which send to a receiver. The first is the default. */
async function services(w: World, url: string): Promise<PushTarget[]> {
  const { host } = new URL(url)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const vapid = createECDH('prime256v1')
  const public_key = vapid.generateKeys('base64url')
  const made = await Promise.all([
    w.post('/api/client/providers', {
      name: 'iPhones',
      kind: 'apns',
      channel: 'push',
      settings: {
        team_id: 'TEAMTEAM00',
        key_id: 'KEYKEYKEY0',
        private_key: privateKey.export({ format: 'pem', type: 'pkcs8' }),
        bundle_id: 'shop.example',
        host,
      },
    }),
    w.post('/api/client/providers', {
      name: 'Browsers',
      kind: 'web_push',
      channel: 'push',
      settings: { subject: 'mailto:hello@shop.example', public_key, private_key: vapid.getPrivateKey('base64url') },
    }),
  ])
  expect(made.map(({ status }) => status)).toEqual([201, 201])
  const keys = { p256dh: createECDH('prime256v1').generateKeys('base64url'), auth: randomBytes(16).toString('base64url') }
  return [
    { device_id: 'phone', os: 'ios', token: 'ab'.repeat(32) },
    { device_id: 'browser', os: 'web', token: JSON.stringify({ endpoint: url, expirationTime: null, keys }) },
  ]
}

test('every device gets the message, and one success is enough', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  const devices = await services(w, receiver.url)
  const connection = await connectProvider(w.ctx, 'push', null)
  expect((await connection.send(pushed(devices))).outcome).toMatchObject({ is: 'accepted' })
  expect(receiver.requests.map(({ path }) => path).sort()).toEqual([`/3/device/${'ab'.repeat(32)}`, '/hook'])

  receiver.requests.length = 0
  expect((await connection.send(pushed(devices.slice(1)))).outcome).toMatchObject({ is: 'accepted' })
  expect(receiver.requests.map(({ path }) => path)).toEqual(['/hook'])

  expect((await connection.send(pushed([]))).outcome).toMatchObject({ is: 'rejected', reason: 'no_push_device' })
})

test('a campaign with a provider only uses that one', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  const devices = await services(w, receiver.url)
  const browsers = (await w.get('/api/client/providers')).body.results.find(({ kind }: { kind: string }) => kind === 'web_push')
  const connection = await connectProvider(w.ctx, 'push', browsers.id)
  await connection.send(pushed(devices))
  expect(receiver.requests.map(({ path }) => path)).toEqual(['/hook'])
  const toPhone = await connection.send(pushed(devices.slice(0, 1)))
  expect(toPhone.outcome).toEqual({ is: 'rejected', reason: 'no_push_device' })
  expect(receiver.requests).toHaveLength(1)
})
