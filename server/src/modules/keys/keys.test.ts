import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type World, world } from '../../../test/world.ts'
import { sql } from '../../infra/postgres/db.ts'
import { generateKey } from './key-format.ts'

test('a generated key has a checksum that can be verified offline', () => {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  const key = generateKey('sk_', randomBytes)
  expect(key).toMatch(/^sk_[0-9A-Za-z]{40}$/)
  const check = [...key.slice(-6)].reduce((sum, character) => sum * 62 + alphabet.indexOf(character), 0)
  expect(check).toBe(crc32(key.slice(3, 37)))
  expect(generateKey('sk_', randomBytes)).not.toBe(key)
})

describe('keys', () => {
  test('the value is shown once and masked afterwards', async () => {
    await using w = await world()
    const { status, body, headers } = await w.post('/api/client/keys', { name: 'CI' })
    expect([status, headers.location, body.role, body.scope]).toEqual([201, `/api/client/keys/${body.id}`, 'support', 'secret'])
    expect((await w.get('/api/client/users', { key: body.value })).status).toBe(200)
    const masked = `sk_********${body.value.slice(-4)}`
    expect((await w.get(`/api/client/keys/${body.id}`)).body.value).toBe(masked)
    expect((await w.patch(`/api/client/keys/${body.id}`, { name: 'CI 2' })).body).toMatchObject({ value: masked, name: 'CI 2' })
    expect((await w.get('/api/client/keys?q=CI')).text).not.toContain(body.value)
  })

  test('any secret key may read itself, and only `admin` keys may read others', async () => {
    await using w = await world()
    const { body } = await w.post('/api/client/keys', { name: 'own' })
    expect((await w.get(`/api/client/keys/${body.id}`, { key: body.value })).status).toBe(200)
    expect((await w.get(`/api/client/keys/${body.id + 1}`, { key: body.value })).body.error.reason).toBe('role')
    expect((await w.get('/api/client/keys', { key: body.value })).body.error.reason).toBe('role')
  })

  test('the stored scope decides, not the prefix', async () => {
    await using w = await world()
    const { body } = await w.post('/api/client/keys', { name: 'browser', scope: 'public', role: 'admin' })
    expect(body.value).toMatch(/^pk_/)
    expect((await w.get('/api/client/users', { key: body.value })).body.error.reason).toBe('not_publishable')
    await w.patch(`/api/client/keys/${body.id}`, { scope: 'secret' })
    expect((await w.get('/api/client/users', { key: body.value })).status).toBe(200)
  })

  test('an archived key cannot be read, and is refused like an unknown one, at once', async () => {
    await using w = await world()
    const { body } = await w.post('/api/client/keys', { name: 'short-lived' })
    await w.get('/api/client/users', { key: body.value })
    expect((await w.delete(`/api/client/keys/${body.id}`)).status).toBe(204)
    expect((await w.get(`/api/client/keys/${body.id}`)).status).toBe(404)
    expect((await w.delete(`/api/client/keys/${body.id}`)).status).toBe(404)
    expect((await w.get('/api/client/users', { key: body.value })).body.error.reason).toBe('key_invalid')
  })

  test.each([
    ['the key is archived', (w: World) => sql`update api_keys set archived_at = now() where project_id = ${w.projectId}`, 401],
    ['the key is deleted', (w: World) => sql`delete from api_keys where project_id = ${w.projectId}`, 401],
    ['the key has a lesser role', (w: World) => sql`update api_keys set role = 'support' where project_id = ${w.projectId}`, 403],
    ['the project is deleted', (w: World) => sql`update projects set deleted_at = now() where id = ${w.projectId}`, 401],
  ])('when %s by another process, it takes effect within five seconds', async (_, change, status) => {
    await using w = await world({ own: true })
    const keys = async () => (await w.get('/api/client/keys')).status
    expect(await keys()).toBe(200)
    w.advance('5 seconds')
    expect(await keys()).toBe(200)
    expect(await w.db.run(change(w))).toBeGreaterThan(0)
    w.advance('5 seconds')
    expect(await keys()).toBe(status)
  })

  test('PATCH {} changes nothing, not even updated_at', async () => {
    await using w = await world()
    const { body } = await w.post('/api/client/keys', { name: 'x' })
    w.advance('1 hour')
    expect((await w.patch(`/api/client/keys/${body.id}`, {})).body.updated_at).toBe(body.updated_at)
    expect((await w.patch(`/api/client/keys/${body.id}`, { description: 'why' })).body.updated_at).not.toBe(body.updated_at)
    expect((await w.patch(`/api/client/keys/${body.id}`, { description: null })).body.description).toBeNull()
  })

  test('an organisation key can create the first key of a new project', async () => {
    await using w = await world()
    const key = { key: w.keys.organisation }
    const project = (await w.post('/api/client/projects', { name: 'New', locale: 'en_AU', timezone: 'australia/sydney' }, key)).body
    expect(project).toMatchObject({
      locale: 'en-AU',
      timezone: 'Australia/Sydney',
      role: 'admin',
      has_provider: false,
      deeplink_mirror_url: '',
      test_recipients: [],
    })
    const made = (await w.post(`/api/client/projects/${project.id}/keys`, { name: 'first', role: 'admin' }, key)).body
    expect((await w.get('/api/client/subscriptions', { key: made.value })).body.results).toHaveLength(5)
    const other = await w.other()
    expect((await w.post(`/api/client/projects/${other.projectId}/keys`, { name: 'x' }, key)).status).toBe(404)
  })
})

describe('projects', () => {
  test('PATCH changes only the given members, and null clears them if they can be null', async () => {
    await using w = await world()
    const key = { key: w.keys.organisation }
    const path = `/api/client/projects/${w.projectId}`
    expect((await w.patch(path, { description: 'x', website_url: 'example.com/shop' }, key)).body).toMatchObject({
      name: 'Test',
      description: 'x',
      website_url: 'example.com/shop',
    })
    expect((await w.patch(path, { description: null }, key)).body).toMatchObject({ description: null, website_url: 'example.com/shop' })
    const before = (await w.get(path, key)).body.updated_at
    w.advance('1 hour')
    expect((await w.patch(path, {}, key)).body.updated_at).toBe(before)
    expect((await w.patch(path, { description: null }, key)).body.updated_at).toBe(before)
    expect((await w.patch(path, { name: 'Other' }, key)).body.updated_at).not.toBe(before)
  })

  test.each([
    [['a@x.com', 'b@x.com'], ['a@x.com']],
    [['a@x.com', 'b@x.com'], []],
    [
      ['a@x.com', 'b@x.com'],
      ['b@x.com', 'a@x.com'],
    ],
  ])('`updated_at` moves when `test_recipients` %j become %j', async (former, test_recipients) => {
    await using w = await world()
    const key = { key: w.keys.organisation }
    const path = `/api/client/projects/${w.projectId}`
    const before = (await w.patch(path, { test_recipients: former }, key)).body.updated_at
    w.advance('1 hour')
    expect((await w.patch(path, { test_recipients: former }, key)).body.updated_at).toBe(before)
    expect((await w.patch(path, { test_recipients }, key)).body.updated_at).not.toBe(before)
  })

  test('`role` is what the key may do in the project: a key of the role member may only read', async () => {
    await using w = await world()
    const roleOf = async (key: string) => (await w.get(`/api/client/projects/${w.projectId}`, { key })).body.role
    expect([await roleOf(w.keys.organisation), await roleOf(w.keys.member)]).toEqual(['admin', 'support'])
  })

  test.each([
    [{ name: null }, 'parameter_invalid_format', 'name'],
    [{ name: ' ' }, 'parameter_invalid_empty', 'name'],
    [{ timezone: 'x'.repeat(51) }, 'validation_failed', 'timezone'],
    [{ timezone: '+10:00' }, 'parameter_invalid_format', 'timezone'],
    [{ locale: 'not a locale' }, 'parameter_invalid_format', 'locale'],
    [{ website_url: 'ftp://example.com' }, 'parameter_invalid_format', 'website_url'],
    [{ deeplink_mirror_url: null }, 'parameter_invalid_format', 'deeplink_mirror_url'],
    [{ deeplink_mirror_url: 'http://example.com' }, 'parameter_invalid_format', 'deeplink_mirror_url'],
    [{ link_wrap_email: 'true' }, 'parameter_invalid_format', 'link_wrap_email'],
    [{ id: 7 }, 'parameter_unknown', 'id'],
  ])('%j is refused with %s', async (body, code, param) => {
    await using w = await world()
    const reply = await w.patch(`/api/client/projects/${w.projectId}`, body, { key: w.keys.organisation })
    expect(reply.body).toMatchObject({ code, error: { param } })
  })

  test('a list shows the organisation’s own projects, without role and has_provider', async () => {
    await using w = await world()
    const { body } = await w.get('/api/client/projects', { key: w.keys.member })
    expect(body.results.map(({ id }: { id: number }) => id)).toEqual([w.projectId])
    expect(Object.keys(body.results[0])).not.toContain('role')
    expect(Object.keys(body.results[0])).not.toContain('has_provider')
  })
})
