/** The journey of a message, of an event and of a webhook event is shown where they are. */
import { expect, test } from 'vitest'
import { createJourney, READY } from '../../../test/journeys.ts'
import { world } from '../../../test/world.ts'

test('messages, events and webhook events of a journey have its id, and others have none', async () => {
  await using w = await world()
  const receiver = await w.receiver()
  const event_types = ['queue.queue-message-authenticated', 'delivery.delivered', 'delivery.completed']
  await w.post('/api/client/webhooks', { name: 'All', url: receiver.url, event_types })
  const subscription_id = (await w.get('/api/client/subscriptions')).body.results.find(({ channel }: any) => channel === 'email').id
  const campaign = (await w.post('/api/client/campaigns', { name: 'Hi', type: 'trigger', subscription_id })).body.id
  await w.put(`/api/client/campaigns/${campaign}/templates/en`, { subject: 'Hi', html: '<p>Hi</p>' })
  const started = await w.patch(`/api/client/campaigns/${campaign}`, { state: 'running' })
  expect(started.status, started.text).toBe(200)
  await w.users('ana', 'bob')
  for (const name of ['ana', 'bob']) await w.patch(`/api/client/users/${name}/subscriptions`, [{ subscription_id, state: 1 }])
  const journey = await createJourney(
    w,
    { status: 'live' },
    {
      api: { ...READY.api, children: [{ external_id: 'note' }] },
      note: { type: 'event', x: 0, y: 1, data: { event_name: 'noted' }, children: [{ external_id: 'send' }] },
      send: { type: 'action', x: 0, y: 2, data: { campaign_id: campaign } },
    },
  )
  await journey.post('entrances', { external_id: 'ana' })
  await w.post(`/api/client/campaigns/${campaign}/trigger`, { external_id: 'bob' })
  await w.drain()

  const { results } = (await w.get(`/api/client/campaigns/${campaign}/recipients`)).body
  const journeyOf = Object.fromEntries(results.map(({ user, journey_id }: any) => [user.external_id, journey_id]))
  expect(journeyOf).toEqual({ ana: journey.id, bob: undefined })

  const eventsOf = async (name: string) =>
    Object.fromEntries(
      (await w.get(`/api/client/users/${name}/events`)).body.results.map(({ name, journey_id }: any) => [name, journey_id]),
    )
  expect(await eventsOf('ana')).toMatchObject({ noted: journey.id, email_sent: journey.id })
  expect((await eventsOf('ana')).user_created).toBeUndefined()
  expect((await eventsOf('bob')).email_sent).toBeUndefined()

  const received = receiver.requests.map(({ json }) => json.data as { message_id: number; journey_id?: number })
  const messageOf = Object.fromEntries(results.map(({ id, user }: any) => [id, user.external_id]))
  expect(new Set(received.map(({ message_id, journey_id }) => `${messageOf[message_id]} ${journey_id}`))).toEqual(
    new Set([`ana ${journey.id}`, 'bob undefined']),
  )
})
