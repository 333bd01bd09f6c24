import { randomBytes } from 'node:crypto'
import { Type } from 'typebox'
import { expect, test, vi } from 'vitest'
import { SOON } from '../../../../test/wait.ts'
import { world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import type { UserId } from '../../../lib/ids.ts'
import { registerDevice } from '../service.ts'
import { clearDeviceTokens } from './clear-tokens.ts'
import { pushDevicesOf } from './queries.ts'

type World = Awaited<ReturnType<typeof world>>

const device = (w: World, external_id: string, device_id: string, token: string | null, os: string | null = 'iOS') =>
  w.post('/api/client/devices', { external_id, device_id, token, os })

const user = async (w: World, name: string): Promise<{ id: UserId; has_push_device: boolean; devices: unknown[] }> =>
  (await w.get(`/api/client/users/${name}`)).body

test('the push devices of users are those with a token, the last registered first', async () => {
  await using w = await world()
  await w.users('kim', 'lee', 'max')
  await device(w, 'kim', 'phone', 't1')
  w.advance('1 second')
  await device(w, 'kim', 'tablet', 't2', null)
  await device(w, 'kim', 'old', null)
  await device(w, 'lee', 'pixel', 't3', 'Android')
  await device(w, 'max', 'other', 't4')
  const [kim, lee] = [await user(w, 'kim'), await user(w, 'lee')]
  expect(await pushDevicesOf(w.ctx, [kim.id, lee.id])).toEqual([
    { user_id: kim.id, device_id: 'tablet', os: null, token: 't2' },
    { user_id: kim.id, device_id: 'phone', os: 'iOS', token: 't1' },
    { user_id: lee.id, device_id: 'pixel', os: 'Android', token: 't3' },
  ])
  const other = await w.other()
  expect(await pushDevicesOf(other.ctx, [kim.id, lee.id])).toEqual([])
})

test('of many devices, the twenty registered last are push devices', async () => {
  await using w = await world()
  await w.users('kim')
  for (let n = 0; n < 22; n++) {
    w.advance('1 second')
    await device(w, 'kim', `d${n}`, `t${n}`)
  }
  const targets = await pushDevicesOf(w.ctx, [(await user(w, 'kim')).id])
  expect(targets.map(({ token }) => token)).toEqual(Array.from({ length: 20 }, (_, n) => `t${21 - n}`))
})

test('a rejected token is cleared, its device stays, and lists that depend on push devices follow', async () => {
  await using w = await world()
  await w.users('kim', 'lee')
  await device(w, 'kim', 'phone', 't1')
  await device(w, 'lee', 'phone-2', 't2')
  await device(w, 'lee', 'tablet', 't3')
  const rule = { attribute: 'has_push_device', is: true }
  const { body: list } = await w.post('/api/client/lists', { name: 'Reachable', type: 'dynamic', rule })
  await w.drain()
  const members = async () =>
    (await w.get(`/api/client/lists/${list.id}/users`)).body.results.map(({ external_id }: { external_id: string }) => external_id).sort()
  expect(await members()).toEqual(['kim', 'lee'])
  w.advance('1 hour')
  await inTx(w.ctx, (ctx) => clearDeviceTokens(ctx, ['t1', 't2', 'unknown']))
  await w.drain()
  expect(await user(w, 'kim')).toMatchObject({
    has_push_device: false,
    devices: [{ device_id: 'phone', has_token: false, updated_at: '2026-11-23T10:00:00.000Z' }],
  })
  expect(await user(w, 'lee')).toMatchObject({ has_push_device: true, devices: [{ has_token: false }, { has_token: true }] })
  expect(await members()).toEqual(['lee'])
})

test('a device that is registered again, or one of several tokens that is cleared, is no change of the user', async () => {
  await using w = await world()
  await w.users('kim', 'lee')
  const updates = async (name: string) => {
    await w.drain()
    const { results } = (await w.get(`/api/client/users/${name}/events`)).body
    return results.flatMap(({ name, data }: { name: string; data: object }) => (name === 'user_updated' ? [data] : []))
  }
  const changed = { changed: ['has_push_device'] }
  await w.drain()
  await device(w, 'kim', 'phone', 't1')
  expect(await updates('kim')).toEqual([changed])
  for (let start = 0; start < 3; start++) {
    w.advance('1 hour')
    await device(w, 'kim', 'phone', 't1')
  }
  await device(w, 'kim', 'tablet', 't2')
  await inTx(w.ctx, (ctx) => clearDeviceTokens(ctx, ['t1']))
  expect(await updates('kim')).toEqual([changed])
  await device(w, 'lee', 'tablet', 't2')
  expect([await updates('kim'), await updates('lee')]).toEqual([[changed, changed], [changed]])
})

test('the same token in another project is not cleared', async () => {
  await using w = await world()
  const other = await w.other()
  await w.users('kim')
  await device(w, 'kim', 'phone', 't1')
  await inTx(other.ctx, (ctx) => clearDeviceTokens(ctx, ['t1']))
  expect((await user(w, 'kim')).has_push_device).toBe(true)
})

test('a token of the longest form is registered, found and cleared; a longer one is refused', async () => {
  await using w = await world()
  await w.users('kim')
  const token = randomBytes(1536).toString('base64url')
  expect((await device(w, 'kim', 'browser', token, 'web')).status).toBe(200)
  expect(await pushDevicesOf(w.ctx, [(await user(w, 'kim')).id])).toMatchObject([{ token }])
  await inTx(w.ctx, (ctx) => clearDeviceTokens(ctx, [token]))
  expect((await user(w, 'kim')).has_push_device).toBe(false)
  for (const other of [`${token}x`, '🔔'.repeat(1000)]) {
    expect((await device(w, 'kim', 'browser', other, 'web')).body.error).toMatchObject({ param: 'token' })
  }
})

test('devices that are registered with one token at the same time: one of them keeps it', async () => {
  await using w = await world()
  await w.users('kim')
  const devices = Array.from({ length: 8 }, (_, index) => `phone-${index}`)
  for (const token of ['t1', 't2', 't3', 't4', 't5']) {
    const replies = await Promise.all(devices.map((id) => device(w, 'kim', id, token)))
    expect(replies.map(({ status }) => status)).toEqual(devices.map(() => 200))
    expect((await pushDevicesOf(w.ctx, [(await user(w, 'kim')).id])).map((one) => one.token)).toEqual([token])
  }
})

test('a device that is registered for a user who was just merged belongs to the one who remains, and for an erased user it is a 404', async () => {
  await using w = await world()
  const { body } = await w.post('/api/client/users/batch', [{ anonymous_id: 'v' }, { external_id: 'kim' }])
  const [anonymous, kim] = body.results.map((result: { user: { id: UserId } }) => result.user.id)
  await w.post('/api/client/users/batch', [{ external_id: 'kim', anonymous_id: 'v' }])
  expect(await registerDevice(w.ctx, anonymous, { device_id: 'phone', token: 't1' })).toMatchObject({ has_token: true })
  expect(await user(w, 'kim')).toMatchObject({ id: kim, has_push_device: true, devices: [{ device_id: 'phone' }] })
  await w.delete('/api/client/users/kim')
  await expect(registerDevice(w.ctx, anonymous, { device_id: 'tablet', token: 't2' })).rejects.toMatchObject({ code: 'resource_missing' })
})

test('a device is registered for the user of each id among its own kind', async () => {
  await using w = await world()
  const { body } = await w.post('/api/client/users/batch', [
    { external_id: 'kim', anonymous_id: 'v1' },
    { external_id: 'ana' },
    { anonymous_id: 'ana' },
  ])
  const anonymous = body.results[2].user.id
  const register = (device_id: string, ids: object) => w.post('/api/client/devices', { device_id, token: `of ${device_id}`, ...ids })
  const owners = async (...ids: UserId[]) => (await pushDevicesOf(w.ctx, ids)).map(({ user_id, device_id }) => [user_id, device_id]).sort()
  expect((await register('d1', { anonymous_id: 'v1' })).status).toBe(200)
  expect((await register('d2', { anonymous_id: 'ana' })).status).toBe(200)
  expect((await register('d3', { external_id: 'kim', anonymous_id: 'v1' })).status).toBe(200)
  expect((await register('d4', { external_id: 'kim', anonymous_id: 'unknown' })).status).toBe(200)
  expect((await register('d5', { external_id: 'kim', anonymous_id: 'ana' })).body.error).toMatchObject({
    code: 'validation_failed',
    param: 'anonymous_id',
  })
  for (const ids of [{ external_id: 'v1' }, { anonymous_id: 'kim' }]) expect((await register('d6', ids)).status).toBe(404)
  const [kim, ana] = [await user(w, 'kim'), await user(w, 'ana')]
  expect(await owners(kim.id)).toEqual([
    [kim.id, 'd1'],
    [kim.id, 'd3'],
    [kim.id, 'd4'],
  ])
  expect([await owners(ana.id), await owners(anonymous)]).toEqual([[], [[anonymous, 'd2']]])
})

test('a member that is left out when a device is registered again keeps its value, and null clears it', async () => {
  await using w = await world()
  await w.users('kim')
  const register = (given: object) => w.post('/api/client/devices', { device_id: 'phone', ...given })
  await register({ external_id: 'kim', token: 't1', os: 'iOS', os_version: '26', model: 'x', app_build: '7', app_version: '3.1' })
  expect((await register({ external_id: 'kim', app_version: '3.2', app_build: null })).body).toMatchObject({
    has_token: true,
    os: 'iOS',
    os_version: '26',
    model: 'x',
    app_build: null,
    app_version: '3.2',
  })
  const kim = await user(w, 'kim')
  expect(await pushDevicesOf(w.ctx, [kim.id])).toMatchObject([{ token: 't1' }])
  expect((await register({ external_id: 'kim', token: null })).body).toMatchObject({ has_token: false, os: 'iOS' })
  expect((await user(w, 'kim')).has_push_device).toBe(false)
})

test('a device that moves to another user brings neither its token nor its other values, so that it needs the token to get the messages', async () => {
  await using w = await world()
  await w.users('ana', 'kim')
  await w.post('/api/client/devices', { external_id: 'ana', device_id: 'browser-1', token: 't1', os: 'web', model: 'x' })
  const headers = { 'x-service-user-token': await w.token('kim') }
  const register = (given: object) => w.post('/api/client/devices', { device_id: 'browser-1', ...given }, { key: w.keys.public, headers })
  expect((await register({ app_version: '3.2' })).body).toMatchObject({ has_token: false, os: null, model: null, app_version: '3.2' })
  const [ana, kim] = [await user(w, 'ana'), await user(w, 'kim')]
  expect(await pushDevicesOf(w.ctx, [ana.id, kim.id])).toEqual([])
  expect([ana.has_push_device, kim.has_push_device]).toEqual([false, false])
  expect((await register({ token: 't1' })).body).toMatchObject({ has_token: true, os: null, app_version: '3.2' })
})

test('a device that is registered while the token of another one is cleared: the user has a push device', async () => {
  await using w = await world()
  await w.users('kim')
  await device(w, 'kim', 'phone', 't1')
  const { registering } = await inTx(w.ctx, async (ctx) => {
    await clearDeviceTokens(ctx, ['t1'])
    const registering = device(w, 'kim', 'tablet', 't2')
    await Promise.race([registering, waiting(w)])
    return { registering }
  })
  expect((await registering).status).toBe(200)
  expect(await user(w, 'kim')).toMatchObject({ has_push_device: true, devices: [{ has_token: false }, { has_token: true }] })
})

const Waiting = Type.Object({ count: Type.Integer() })

/** Resolves when a statement waits for a lock. */
const waiting = (w: World) =>
  vi.waitFor(async () => {
    const row = await w.db.first(
      Waiting,
      sql`select count(*) as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    expect(row?.count).toBe(1)
  }, SOON)
