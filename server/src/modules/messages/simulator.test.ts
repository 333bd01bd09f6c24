/** The addresses of the simulator (D-MSG-5), over a relay that must get nothing, and in the sandbox. */
import { expect, test } from 'vitest'
import { subscriptionTo } from '../../../test/blasts.ts'
import { sendOver } from '../../../test/mailing.ts'
import { openRelay } from '../../../test/relay.ts'
import { type World, world } from '../../../test/world.ts'

const CONTENT = { from: 'App <app@example.com>', subject: 'Hi', html: '<p>Hi</p>' }

async function sendTo(w: World, name: string) {
  const user = { external_id: name, email: `${name}@simulator.carillon.example` }
  const reply = await w.post('/api/client/messages', { subscription_id: await subscriptionTo(w), content: CONTENT, user })
  expect(reply.body, reply.text).toMatchObject({ state: 'queued' })
  return async () => (await w.get(`/api/client/messages/${reply.body.id}`)).body
}

const suppressed = async (w: World) => (await w.get('/api/client/suppressions')).body.results
const eventsOf = async (w: World, name: string) =>
  (await w.get(`/api/client/users/${name}/events`)).body.results.map(({ name }: { name: string }) => name)

test.each(['a relay', 'the sandbox'])('act out each outcome with %s, and nothing is sent', async (provider) => {
  await using relay = await openRelay()
  await using w = await world()
  if (provider === 'a relay') await sendOver(w, relay)
  const [bounce, complaint, deferred, ana] = [
    await sendTo(w, 'bounce'),
    await sendTo(w, 'complaint+1'),
    await sendTo(w, 'deferred'),
    await sendTo(w, 'ana'),
  ]
  await w.drain()
  expect(await bounce()).toMatchObject({ state: 'bounced', reason: 'hard_bounce', attempts: 1 })
  expect(await complaint()).toMatchObject({ state: 'complained', reason: 'complaint' })
  expect(await deferred()).toMatchObject({ state: 'deferred', reason: 'provider_deferred', attempts: 1 })
  expect(await ana()).toMatchObject({ state: 'delivered' })
  expect(await eventsOf(w, 'bounce')).toContain('email_bounced')
  expect(await eventsOf(w, 'complaint+1')).toEqual(expect.arrayContaining(['email_delivered', 'email_complained', 'unsubscribed']))
  w.advance('1 minute')
  await w.drain()
  expect(await deferred()).toMatchObject({ state: 'deferred', attempts: 2 })
  expect(await suppressed(w)).toEqual([])
  await sendTo(w, 'bounce')
  expect(relay.connections().made).toBe(0)
})

test('an in-app message is in the inbox of its user from the first start, and not in the sandbox', async () => {
  await using w = await world()
  const user = { external_id: 'ana' }
  const content = { title: 'Hello', body: 'Hello' }
  const sent = await w.post('/api/client/messages', { subscription_id: await subscriptionTo(w, 'in_app'), content, user })
  await w.drain()
  expect((await w.get(`/api/client/messages/${sent.body.id}`)).body).toMatchObject({
    state: 'delivered',
    provider: 'inbox',
    content: { title: 'Hello' },
  })
  const headers = { 'x-service-user-token': await w.token('ana') }
  const inbox = await w.get('/api/client/users/me/messages', { key: w.keys.public, headers })
  expect(inbox.body.results).toMatchObject([{ id: sent.body.id, title: 'Hello' }])
  expect((await w.get('/api/client/sandbox/messages')).body.results).toEqual([])
})
