/** A new user and a user with changed attributes get a system event, whichever endpoint made the change. */
import { expect, test } from 'vitest'
import { type World, world } from '../world.ts'

const eventsOf = async (w: World, user: string) =>
  (await w.get(`/api/client/users/${user}/events`)).body.results
    .filter(({ name }: { name: string }) => name.startsWith('user_'))
    .map(({ name, data }: { name: string; data: object }) => [name, data])
    .reverse()

test('a user gets one event when it is created, and one for each change with the names of the attributes', async () => {
  await using w = await world()
  await w.post('/api/client/events', [{ name: 'seen', external_id: 'by-event', user: { data: { plan: 'free' } } }])
  await w.post('/api/client/users/batch', [{ external_id: 'by-upsert', email: 'a@example.com' }])
  await w.patch('/api/client/users', [{ external_id: 'by-patch' }])
  await w.drain()
  for (const user of ['by-event', 'by-upsert', 'by-patch']) expect([user, await eventsOf(w, user)]).toEqual([user, [['user_created', {}]]])

  w.advance('1 minute')
  await w.post('/api/client/users/batch', [{ external_id: 'by-upsert', email: 'b@example.com', data: { plan: 'pro' } }])
  await w.post('/api/client/users/batch', [{ external_id: 'by-event', data: { plan: 'free' } }])
  await w.drain()
  expect(await eventsOf(w, 'by-upsert')).toEqual([
    ['user_created', {}],
    ['user_updated', { changed: ['email', 'data.plan'] }],
  ])
  expect(await eventsOf(w, 'by-event')).toHaveLength(1)
})

test('these events can be used in the rules of lists, and trigger no campaign', async () => {
  await using w = await world()
  const rule = { event: 'user_updated', where: [{ attribute: 'data.changed', contains: 'email' }], at_least: 1 }
  const list = (await w.post('/api/client/lists', { name: 'Moved', type: 'dynamic', rule })).body
  const { results: types } = (await w.get('/api/client/subscriptions')).body
  for (const event_name of ['user_created', 'user_updated']) {
    const campaign = { type: 'trigger', name: event_name, subscription_id: types[0].id, event_name }
    const { id } = (await w.post('/api/client/campaigns', campaign)).body
    await w.put(`/api/client/campaigns/${id}/templates/en`, { subject: 'Hi', html: '<p>Hi</p>' })
    await w.patch(`/api/client/campaigns/${id}`, { state: 'running' })
  }
  await w.users('kim', 'lee')
  await w.drain()
  await w.post('/api/client/users/batch', [{ external_id: 'kim', email: 'new@example.com' }])
  await w.drain()
  const { results } = (await w.get(`/api/client/lists/${list.id}/users`)).body
  expect(results.map(({ external_id }: { external_id: string }) => external_id)).toEqual(['kim'])
  expect((await w.get('/api/client/sandbox/messages')).body.results).toEqual([])
})
