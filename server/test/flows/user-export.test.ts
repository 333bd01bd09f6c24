/** Subject access: everything about a user as one file, and the receipt of its erasure. */
import { describe, expect, test } from 'vitest'
import { exportUser } from '../../src/user-data.ts'
import { blastTo, listOf, schedule } from '../blasts.ts'
import { queueMail } from '../queued-mail.ts'
import { type World, world } from '../world.ts'

const PATH = '/api/client/users/kim/export'

/** A user with something in almost every store, and another one with the same kinds of data. */
async function lively(w: World) {
  await w.post('/api/client/users/batch', [
    { anonymous_id: 'browser', data: { seen: 'before' } },
    { external_id: 'kim', email: 'kim@example.com', phone: '+61412345678', data: { plan: 'pro', secret: 'hidden-value' } },
    { external_id: 'other', email: 'other@example.com', data: { note: 'of-the-other' } },
  ])
  await w.put('/api/client/attributes/secret', { hidden: true })
  await w.post('/api/client/events', [{ anonymous_id: 'browser', name: 'looked', data: { page: 'home' } }])
  await w.drain()
  await w.post('/api/client/users/batch', [{ external_id: 'kim', anonymous_id: 'browser' }])
  await w.post('/api/client/devices', { external_id: 'kim', device_id: 'phone', token: 'push-token' })
  const { results: types } = (await w.get('/api/client/subscriptions')).body
  await w.patch('/api/client/users/kim/subscriptions', [{ subscription_id: types[0].id, state: 2 }])
  await w.post(
    '/api/client/events',
    ['kim', 'other'].map((external_id) => ({ external_id, name: 'order', data: { of: external_id } })),
  )
  await schedule(w, await blastTo(w, [await listOf(w, 'kim', 'other')]))
  await w.drain()
  await w.post('/api/client/suppressions', [{ channel: 'text', address: '0412 345 678' }])
}

describe('the export of a user', () => {
  test('has everything of the user and of those merged into it, and nothing of others', async () => {
    await using w = await world()
    await lively(w)
    const { status, headers, body, text } = await w.get(PATH)
    expect([status, headers['content-type']]).toEqual([200, 'application/json'])
    expect(headers['content-disposition']).toBe(`attachment; filename="user-${body.user_id}.json"`)
    expect(body.profiles.map(({ external_id, data }: any) => [external_id, data])).toContainEqual([
      'kim',
      { plan: 'pro', secret: 'hidden-value', seen: 'before' },
    ])
    expect(body.anonymous_ids).toMatchObject([{ anonymous_id: 'browser' }])
    expect(body.events.map(({ name }: any) => name)).toEqual(expect.arrayContaining(['looked', 'order', 'email_sent']))
    expect(body.events[0].created_at).toMatch(/^2026-11-23T09:00:00\.\d{3}Z$/)
    expect(body.consents).toMatchObject([{ state: 2, source: 'api', proof: { key_id: expect.any(Number) } }])
    expect(body.devices).toMatchObject([{ device_id: 'phone', has_token: true }])
    expect(body.lists.length).toBe(1)
    expect(body.messages).toMatchObject([{ channel: 'email', state: 'delivered' }])
    expect(body.sandbox_messages).toMatchObject([{ recipient: 'kim@example.com', content: { to: 'kim@example.com' } }])
    expect(body.suppressions).toMatchObject([{ channel: 'text', reason: 'manual' }])
    for (const absent of ['push-token', 'of-the-other', 'other@example.com']) expect(text).not.toContain(absent)
  })

  test('has what is stored under the addresses of users who were merged into it', async () => {
    await using w = await world()
    await w.post('/api/client/users/batch', [
      { anonymous_id: 'v1', email: 'Old@example.com' },
      { external_id: 'kim', email: 'kim@example.com' },
      { external_id: 'kim', anonymous_id: 'v1' },
    ])
    await w.drain()
    await w.post('/api/client/suppressions', [
      { channel: 'email', address: 'old@example.com', reason: 'complaint' },
      { channel: 'email', address: 'kim@example.com' },
      { channel: 'email', address: 'other@example.com' },
    ])
    await queueMail(w, { to: ['old@example.com', 'other@example.com'] }, { to: ['kim@example.com'] })
    const { profiles, emails, suppressions } = (await w.get(PATH)).body
    expect(profiles).toHaveLength(2)
    expect(emails.map(({ recipient }: any) => recipient).sort()).toEqual(['kim@example.com', 'old@example.com'])
    expect(suppressions.map(({ address, reason }: any) => [address, reason]).sort()).toEqual([
      ['kim@example.com', 'manual'],
      ['old@example.com', 'complaint'],
    ])
  })

  test('has items of the user that were refused after they were accepted', async () => {
    await using w = await world()
    const data = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`n${at}`, at]))
    await w.post('/api/client/users/batch', [
      { external_id: 'kim', anonymous_id: 'visitor', data },
      { external_id: 'other', data },
    ])
    const more = (ids: object) => ({ name: 'profile', user: { email: 'new@example.com', data: { more: 1 } }, ...ids })
    const ids = [{ external_id: 'kim' }, { anonymous_id: 'visitor' }, { external_id: 'other', anonymous_id: 'visitor' }]
    expect((await w.post('/api/client/events', ids.map(more))).status).toBe(204)
    await w.drain()
    const { refused_items } = (await w.get(PATH)).body
    expect(refused_items).toMatchObject([
      { kind: 'events', reason: expect.stringContaining('data'), item: { external_id: 'kim', user: { email: 'new@example.com' } } },
      { item: { anonymous_id: 'visitor' } },
    ])
  })

  test('has every row once, however many pages there are', async () => {
    await using w = await world()
    await w.users('kim')
    for (let hundred = 0; hundred < 3; hundred++) {
      const events = Array.from({ length: 100 }, (_, at) => ({ external_id: 'kim', name: 'order', data: { no: hundred * 100 + at } }))
      await w.post('/api/client/events', events)
    }
    await w.drain()
    const { events } = (await w.get(PATH)).body
    const numbers = events.filter(({ name }: any) => name === 'order').map(({ data }: any) => data.no)
    expect(numbers.toSorted((a: number, b: number) => a - b)).toEqual(Array.from({ length: 300 }, (_, at) => at))
  })

  test('is read as it is sent, without a transaction, and holds a page at most', async () => {
    await using w = await world()
    await w.users('kim')
    const events = Array.from({ length: 100 }, () => ({ external_id: 'kim', name: 'order', data: { note: 'x'.repeat(1000) } }))
    for (let hundred = 0; hundred < 5; hundred++) await w.post('/api/client/events', events)
    await w.drain()
    let longest = 0
    let size = 0
    for await (const part of (await exportUser(w.ctx, 'kim')).parts) {
      longest = Math.max(longest, part.length)
      size += part.length
    }
    expect(size).toBeGreaterThan(500_000)
    expect(longest).toBeLessThan(200_000)
  })

  test('is limited to three at a time for a project, and an unknown user is 404', async () => {
    await using w = await world()
    await w.users('kim')
    expect((await w.get('/api/client/users/nobody/export')).status).toBe(404)
    const running = await Promise.all(Array.from({ length: 3 }, async () => (await exportUser(w.ctx, 'kim')).parts[Symbol.asyncIterator]()))
    for (const parts of running) await parts.next()
    const refused = await w.get(PATH)
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' }, headers: { 'retry-after': '10' } })
    expect((await w.get(PATH, { key: (await w.other()).keys.secret })).status).toBe(404)
    await running[0]?.return?.()
    expect((await w.get(PATH)).status).toBe(200)
    for (const parts of running) await parts.return?.()
    expect((await w.request('HEAD', PATH)).status).toBe(200)
    for (let time = 0; time < 4; time++) expect((await w.get(PATH)).status).toBe(200)
  })

  test('is for admins', async () => {
    await using w = await world()
    await w.users('kim')
    expect((await w.get(PATH, { key: w.keys.publisher })).status).toBe(403)
  })
})

describe('the receipt of an erasure', () => {
  test('is where `Location` says, and has what was removed in numbers', async () => {
    await using w = await world()
    await lively(w)
    const exported = (await w.get(PATH)).body
    const erased = await w.delete('/api/client/users/kim')
    expect([erased.status, erased.text]).toEqual([204, ''])
    const path = erased.headers.location as string
    expect((await w.get(path)).body).toMatchObject({
      state: 'requested',
      user_id: exported.user_id,
      removed: { anonymous_ids: 1 },
      finished_at: null,
    })
    w.advance('1 minute')
    await w.drain()
    const { body, text } = await w.get(path)
    expect(body).toMatchObject({ state: 'finished', finished_at: w.clock.now().toISOString() })
    const { exported_at: _, user_id: __, suppressions: ___, emails: ____, refused_items: _____, ...stores } = exported
    expect(body.removed).toEqual(Object.fromEntries(Object.entries(stores).map(([name, rows]) => [name, (rows as unknown[]).length])))
    expect(body.removed).toMatchObject({ profiles: 2, messages: 1, devices: 1 })
    expect(text).not.toContain('kim')
    expect((await w.delete('/api/client/users/kim')).status).toBe(404)
  })

  test('is replayed with its `Location` under an Idempotency-Key', async () => {
    await using w = await world()
    await w.users('kim')
    const erase = () => w.delete('/api/client/users/kim', { headers: { 'idempotency-key': 'once' } })
    const { location } = (await erase()).headers
    expect(location).toMatch(/^\/api\/client\/users\/erasures\/\d+$/)
    expect((await erase()).headers.location).toBe(location)
  })
})
