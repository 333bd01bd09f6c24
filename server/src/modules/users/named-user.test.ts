import { expect, test } from 'vitest'
import { member } from '../../../test/members.ts'
import { type World, world } from '../../../test/world.ts'

/** Creates users in the project of a key. Returns their ids. */
async function created(w: World, key: string, ...items: object[]): Promise<number[]> {
  const { body } = await w.post('/api/client/users/batch', items, { key })
  return body.results.map(({ user }: { user: { id: number } }) => user.id)
}

test('an organisation key reads the users of all its projects by numeric id, and a project key by external id', async () => {
  await using w = await world()
  const key = w.keys.organisation
  const project = (await w.post('/api/client/projects', { name: 'Second', locale: 'de-DE', timezone: 'Europe/Berlin' }, { key })).body
  const { value } = (await w.post(`/api/client/projects/${project.id}/keys`, { name: 'x', role: 'admin' }, { key })).body
  await w.put('/api/client/attributes/secret', { hidden: true })
  const [kim] = await created(w, w.keys.secret, { external_id: 'kim', email: 'kim@example.com', data: { plan: 'pro', secret: 1 } })
  const [lee] = await created(w, value, { external_id: 'lee' })
  await w.post('/api/client/devices', { external_id: 'kim', device_id: 'phone', token: 't' })
  await w.post('/api/client/suppressions', [{ channel: 'email', address: 'kim@example.com' }])
  expect(await w.get(`/api/client/users/${kim}`, { key })).toMatchObject({
    status: 200,
    body: {
      id: kim,
      project_id: w.projectId,
      external_id: 'kim',
      data: { plan: 'pro' },
      devices: [{ device_id: 'phone' }],
      suppressions: [{ channel: 'email' }],
    },
  })
  expect((await w.get(`/api/client/users/${kim}`, { key })).body.data).toEqual({ plan: 'pro' })
  expect((await w.get(`/api/client/users/${lee}`, { key })).body).toMatchObject({ id: lee, project_id: project.id, external_id: 'lee' })
  const { headers } = await member(w, 'admin')
  expect((await w.get(`/api/client/users/${lee}`, { key: null, headers })).body.external_id).toBe('lee')
  for (const name of ['kim', 'lee', '0', '999999999', '9'.repeat(30), `${kim}x`, `-${kim}`])
    expect([name, (await w.get(`/api/client/users/${name}`, { key })).status]).toEqual([name, 404])
  for (const its of [w.keys.secret, value]) expect((await w.get(`/api/client/users/${kim}`, { key: its })).status).toBe(404)
  expect((await w.get(`/api/client/users/${kim}`, { key: w.keys.member })).body.error.reason).toBe('role')
})

test('an organisation key reads the subscription states of a user by numeric id, in pages', async () => {
  await using w = await world()
  const key = w.keys.organisation
  const [kim] = await created(w, w.keys.secret, { external_id: 'kim' })
  const path = `/api/client/users/${kim}/subscriptions`
  const own = (await w.get('/api/client/users/kim/subscriptions')).body
  await w.patch('/api/client/users/kim/subscriptions', [{ subscription_id: own.results[0].subscription_id, state: 0 }])
  const { results } = (await w.get('/api/client/users/kim/subscriptions')).body
  expect(results).toHaveLength(5)
  expect((await w.get(path, { key })).body.results).toEqual(results)
  const first = (await w.get(`${path}?limit=2`, { key })).body
  expect((await w.get(`${path}?limit=3&cursor=${first.nextCursor}`, { key })).body.results).toEqual(results.slice(2))
  expect((await w.get('/api/client/users/kim/subscriptions', { key })).status).toBe(404)
})

test('the id of a merged user reads the one who remains; users of other organisations and deleted ones are 404', async () => {
  await using w = await world()
  const key = w.keys.organisation
  const statuses = async (...ids: (number | undefined)[]) =>
    Promise.all(
      ids.flatMap((id) => ['', '/subscriptions'].map(async (below) => (await w.get(`/api/client/users/${id}${below}`, { key })).status)),
    )
  const [anonymous, kim] = await created(w, w.keys.secret, { anonymous_id: 'v' }, { external_id: 'kim' })
  await created(w, w.keys.secret, { external_id: 'kim', anonymous_id: 'v' })
  expect((await w.get(`/api/client/users/${anonymous}`, { key })).body).toMatchObject({ id: kim, external_id: 'kim', anonymous_id: 'v' })
  expect((await w.get(`/api/client/users/${anonymous}/subscriptions`, { key })).body.results).toHaveLength(5)
  const other = await w.other()
  const [theirs] = await created(w, other.keys.secret, { external_id: 'kim' })
  expect(await statuses(theirs)).toEqual([404, 404])
  expect((await w.get(`/api/client/users/${theirs}`, { key: other.keys.organisation })).status).toBe(200)
  await w.delete('/api/client/users/kim')
  expect(await statuses(kim, anonymous)).toEqual([404, 404, 404, 404])
  const [lee] = await created(w, w.keys.secret, { external_id: 'lee' })
  expect(await statuses(lee)).toEqual([200, 200])
  expect((await w.request('DELETE', `/api/client/projects/${w.projectId}`, { name: 'Test' }, { key })).status).toBe(204)
  expect(await statuses(lee)).toEqual([404, 404])
})
