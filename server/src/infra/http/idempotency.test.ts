import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { world } from '../../../test/world.ts'
import { DAY_MS } from '../../lib/times.ts'
import { sql } from '../postgres/db.ts'

const batch = '/api/client/users/batch'
const key = (value: string) => ({ headers: { 'idempotency-key': value } })

describe('Idempotency-Key', () => {
  test('a repeated request gets the same reply and has no effect', async () => {
    await using w = await world()
    const first = await w.post('/api/client/keys', { name: 'one', role: 'editor' }, key('k1'))
    const again = await w.post('/api/client/keys', { role: 'editor', name: 'one' }, key('k1'))
    expect(again.text).toBe(first.text)
    expect([again.status, again.headers.location]).toEqual([201, first.headers.location])
    expect(again.headers).toMatchObject({
      'idempotent-replayed': 'true',
      'idempotency-key': 'k1',
      'original-request': first.headers['x-request-id'],
    })
    expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id'])
    expect(first.headers['idempotent-replayed']).toBeUndefined()
    expect((await w.get('/api/client/keys?q=one')).body.results).toHaveLength(1)
  })

  test('a secret in a stored reply is encrypted', async () => {
    await using w = await world()
    const { body } = await w.post('/api/client/keys', { name: 'one' }, key('sealed'))
    const Row = Type.Object({ body: Type.String() })
    const stored = await w.db.first(Row, sql`select body from idempotency_records where idempotency_key = 'sealed'`)
    expect(stored?.body).not.toContain(body.value)
  })

  test.each<[string, string, unknown]>([
    ['another body', batch, [{ external_id: 'lee' }]],
    ['another order in an array', batch, [{ external_id: 'b' }, { external_id: 'a' }]],
    ['another route', '/api/client/keys', { name: 'x' }],
  ])('%s under the same key is refused with 409', async (_, path, body) => {
    await using w = await world()
    await w.post(batch, [{ external_id: 'a' }, { external_id: 'b' }], key('k'))
    const reply = await w.post(path, body, key('k'))
    expect([reply.status, reply.body.code, reply.body.error.reason]).toEqual([409, 'idempotency_key_mismatch', 'different_request'])
  })

  test('two credentials can use the same key independently', async () => {
    await using w = await world()
    await w.post(batch, [{ external_id: 'a' }], key('k'))
    const reply = await w.post(batch, [{ external_id: 'b' }], { ...key('k'), key: w.keys.editor })
    expect([reply.status, reply.headers['idempotent-replayed']]).toEqual([200, undefined])
  })

  test('ten simultaneous requests have one effect and one reply', async () => {
    await using w = await world()
    const replies = await Promise.all(Array.from({ length: 10 }, () => w.post('/api/client/keys', { name: 'once' }, key('parallel'))))
    const created = replies.filter(({ status }) => status === 201)
    const busy = replies.filter(({ status }) => status === 409)
    expect(created.length + busy.length).toBe(10)
    expect(new Set(created.map(({ body }) => body.id)).size).toBe(1)
    expect(created.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1)
    for (const { body, headers } of busy) expect([body.error.reason, headers['retry-after']]).toEqual(['in_progress', '1'])
    expect((await w.get('/api/client/keys?q=once')).body.results).toHaveLength(1)
  })

  test('a rejected request can be corrected and sent again with the same key', async () => {
    await using w = await world()
    expect((await w.post('/api/client/keys', { nom: 'x' }, key('k'))).status).toBe(422)
    const corrected = await w.post('/api/client/keys', { name: 'x' }, key('k'))
    expect([corrected.status, corrected.headers['idempotent-replayed']]).toEqual([201, undefined])
  })

  test('a refusal by the handler is replayed and has no effect', async () => {
    await using w = await world()
    const first = await w.patch('/api/client/keys/999999', { name: 'x' }, key('gone'))
    const again = await w.patch('/api/client/keys/999999', { name: 'x' }, key('gone'))
    expect([first.status, again.status, again.headers['idempotent-replayed']]).toEqual([404, 404, 'true'])
    expect(again.text).toBe(first.text)
  })

  test('a key expires after 24 hours, to the millisecond', async () => {
    await using w = await world()
    const send = () => w.post(batch, [{ external_id: 'a' }], key('day'))
    await send()
    w.advance(DAY_MS - 1)
    expect((await send()).headers['idempotent-replayed']).toBe('true')
    w.advance(1)
    expect((await send()).headers['idempotent-replayed']).toBeUndefined()
  })

  test('an archived API key gets 401, not a replay', async () => {
    await using w = await world()
    const made = (await w.post('/api/client/keys', { name: 'x', role: 'editor' })).body
    await w.post(batch, [{ external_id: 'a' }], { ...key('k'), key: made.value })
    await w.delete(`/api/client/keys/${made.id}`)
    expect((await w.post(batch, [{ external_id: 'a' }], { ...key('k'), key: made.value })).status).toBe(401)
  })

  test.each<[string, string, string]>([
    ['empty', ' ', 'parameter_invalid_empty'],
    ['too long', 'x'.repeat(256), 'parameter_invalid_format'],
    ['not ASCII', 'schlüssel', 'parameter_invalid_format'],
  ])('a key that is %s is refused', async (_, value, code) => {
    await using w = await world()
    expect((await w.post(batch, [{ external_id: 'a' }], key(value))).body).toMatchObject({ code, error: { param: 'Idempotency-Key' } })
  })

  test('an accepted event and the record of its reply are committed together', async () => {
    await using w = await world()
    const send = () => w.post('/api/client/events', [{ name: 'x', external_id: 'kim' }], key('event'))
    expect([(await send()).status, (await send()).headers['idempotent-replayed']]).toEqual([204, 'true'])
    const Row = Type.Object({ count: Type.Integer() })
    expect((await w.db.first(Row, sql`select count(*) as count from queue_entries where project_id = ${w.projectId}`))?.count).toBe(1)
  })

  test('reads ignore the header', async () => {
    await using w = await world()
    expect((await w.get('/api/client/users', key('k'))).headers['idempotency-key']).toBeUndefined()
  })
})
