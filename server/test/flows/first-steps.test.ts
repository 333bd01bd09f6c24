import { expect, test } from 'vitest'
import { world } from '../world.ts'

test('a saved user is found by id and by search', async () => {
  await using w = await world()
  const saved = await w.post('/api/client/users/batch', [{ external_id: 'kim', email: 'kim@example.com', data: { plan: 'pro' } }])
  expect(saved.body).toMatchObject({ succeeded: 1, failed: 0 })
  expect((await w.get('/api/client/users/kim')).body).toMatchObject({ external_id: 'kim', data: { plan: 'pro' }, devices: [] })
  expect((await w.get('/api/client/users?q=KIM@')).body.results).toHaveLength(1)
})

test('an accepted event creates its user', async () => {
  await using w = await world()
  expect((await w.post('/api/client/events', [{ external_id: 'lee', name: 'signed_up', user: { email: 'lee@example.com' } }])).status).toBe(
    204,
  )
  await w.drain()
  expect((await w.get('/api/client/users/lee')).body).toMatchObject({ email: 'lee@example.com' })
})
