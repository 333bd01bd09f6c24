/** Versions of objects (D-HTTP-11), and what is prepared before the transaction of a write. */
import { describe, expect, test } from 'vitest'
import { blastTo, CAMPAIGNS, listOf, pathOf, schedule } from '../../../test/blasts.ts'
import { type Reply, type World, world } from '../../../test/world.ts'

const EMAIL = { from: 'shop@example.com', subject: 'Hi', html: '<p>Hi <a href="{{ unsubscribe_url }}">x</a></p>' }

const withTag = (etag = '') => ({ headers: { 'if-match': etag } })

const refusalOf = ({ status, body }: Reply) => [status, body.code, body.error.reason, body.error.param]
const CHANGED = [412, 'validation_failed', 'changed', 'If-Match']

/** The objects that have a version: where they are, a change by one member, and one by another. */
const OBJECTS: [string, (w: World) => Promise<{ path: string; method: 'put' | 'patch'; one: object; other: object }>][] = [
  ['campaign', async (w) => ({ path: pathOf(await blastTo(w, [])), method: 'patch', one: { name: 'One' }, other: { name: 'Other' } })],
  [
    'template',
    async (w) => {
      const path = `${pathOf(await blastTo(w, []))}/templates/en`
      expect((await w.put(path, EMAIL)).status).toBe(200)
      return { path, method: 'put', one: { ...EMAIL, subject: 'One' }, other: { ...EMAIL, subject: 'Other' } }
    },
  ],
  [
    'list',
    async (w) => ({ path: `/api/client/lists/${await listOf(w)}`, method: 'patch', one: { name: 'One' }, other: { name: 'Other' } }),
  ],
  [
    'journey',
    async (w) => {
      const { body } = await w.post('/api/client/journeys', { name: 'Welcome' })
      return { path: `/api/client/journeys/${body.id}`, method: 'patch', one: { name: 'One' }, other: { name: 'Other' } }
    },
  ],
  [
    'steps of a journey',
    async (w) => {
      const { body } = await w.post('/api/client/journeys', { name: 'Welcome' })
      const step = (name: string) => ({ first: { type: 'delay', name, x: 0, y: 0, data: {}, children: [] } })
      return { path: `/api/client/journeys/${body.id}/steps`, method: 'put', one: step('One'), other: step('Other') }
    },
  ],
]

describe('If-Match', () => {
  test.each(OBJECTS)('of two who change the same version of a %s, the second is refused and told', async (_, make) => {
    await using w = await world()
    const { path, method, one, other } = await make(w)
    const { etag } = (await w.get(path)).headers
    expect(etag).toMatch(/^"[\w-]{27}"$/)
    const saved = await w[method](path, one, withTag(etag))
    expect(saved.status, saved.text).toBe(200)
    expect((await w.get(path)).headers.etag).toBe(saved.headers.etag)
    const refused = await w[method](path, other, withTag(etag))
    expect(refusalOf(refused)).toEqual(CHANGED)
    expect(refused.headers.etag).toBe(saved.headers.etag)
    expect((await w.get(path)).headers.etag).toBe(saved.headers.etag)
    // On what is there now, and without the header, it is saved.
    expect((await w[method](path, other, withTag(`W/${refused.headers.etag}`))).status).toBe(200)
    expect((await w[method](path, one)).headers.etag).toBe(saved.headers.etag)
  })

  test('of many at the same time exactly one is saved, also under Idempotency-Keys', async () => {
    await using w = await world()
    const path = pathOf(await blastTo(w, []))
    const { etag = '' } = (await w.get(path)).headers
    const headers = (at: number) => ({ 'if-match': etag, 'idempotency-key': `k${at}` })
    const names = Array.from({ length: 6 }, (_, at) => `Name ${at}`)
    const replies = await Promise.all(names.map((name, at) => w.patch(path, { name }, { headers: headers(at) })))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 412, 412, 412, 412, 412])
    const won = replies.findIndex(({ status }) => status === 200)
    expect((await w.get(path)).body.name).toBe(names[won])
    // The reply that was lost on the way is replayed with its version, and what was refused can be sent again.
    const again = await w.patch(path, { name: names[won] }, { headers: headers(won) })
    expect([again.status, again.headers.etag]).toEqual([200, replies[won]?.headers.etag])
    const lost = replies.findIndex(({ status }) => status === 412)
    const repeated = { ...headers(lost), 'if-match': again.headers.etag as string }
    expect((await w.patch(path, { name: names[lost] }, { headers: repeated })).status).toBe(200)
  })

  test('of a campaign knows what was asked for, not what becomes of it by itself', async () => {
    await using w = await world()
    const blast = await blastTo(w, [await listOf(w, 'ana')])
    const path = pathOf(blast)
    const tagOf = async () => (await w.get(path)).headers.etag
    const draft = await tagOf()
    await schedule(w, blast)
    const scheduled = await tagOf()
    expect(scheduled).not.toBe(draft)
    await w.drain()
    expect((await w.get(path)).body).toMatchObject({ state: 'finished', started_at: expect.any(String) })
    expect((await w.patch(path, { tags: ['spring'] }, withTag(scheduled))).status).toBe(200)
    const tagged = await tagOf()
    await w.patch(path, { state: 'aborted' })
    expect(refusalOf(await w.patch(path, { tags: [] }, withTag(tagged)))).toEqual(CHANGED)
  })

  test('of a campaign does not know whether it is paused', async () => {
    await using w = await world()
    const blast = await blastTo(w, [await listOf(w, 'ana')])
    const path = pathOf(blast)
    await w.patch(path, { state: 'scheduled', send_at: '2027-01-01' })
    const { etag } = (await w.get(path)).headers
    const paused = await w.post(`${path}/pause`)
    expect(paused.body.is_paused).toBe(true)
    expect((await w.patch(path, { tags: ['spring'] }, withTag(etag))).status).toBe(200)
  })

  test('knows what does not exist, and what must not', async () => {
    await using w = await world()
    const path = `${pathOf(await blastTo(w, []))}/templates/de`
    const onlyNew = { headers: { 'if-none-match': '*' } }
    const absent = await w.put(path, EMAIL, withTag('*'))
    expect(refusalOf(absent)).toEqual(CHANGED)
    expect(absent.body.message).toContain('To create it, repeat the request without `If-Match`.')
    expect((await w.get(path)).status).toBe(404)
    const { headers } = await w.put(path, EMAIL, onlyNew)
    expect(refusalOf(await w.put(path, EMAIL, onlyNew))).toEqual([412, 'validation_failed', 'changed', 'If-None-Match'])
    expect(refusalOf(await w.request('DELETE', path, undefined, withTag('"another"')))).toEqual(CHANGED)
    expect((await w.request('DELETE', path, undefined, withTag(headers.etag))).status).toBe(204)
    expect((await w.patch(`${CAMPAIGNS}/999999`, { name: 'x' }, withTag('"a"'))).status).toBe(404)
    for (const malformed of ['abc', '"a" "b"', `"${'a'.repeat(5000)}"`])
      expect(refusalOf(await w.put(path, EMAIL, withTag(malformed))).slice(0, 2)).toEqual([400, 'parameter_invalid_format'])
  })
})

test('while templates are compiled, no connection to the database waits for them', async () => {
  const connectionsMax = 3
  await using w = await world({ own: true, connectionsMax })
  const path = pathOf(await blastTo(w, []))
  const { threads } = w.ctx
  const run = threads.run.bind(threads)
  const gate = Promise.withResolvers<void>()
  const all = Promise.withResolvers<void>()
  let begun = 0
  const held: typeof run = async (...work) => {
    if (++begun === connectionsMax) all.resolve()
    await gate.promise
    return run(...work)
  }
  threads.run = held
  const saving = ['en', 'de', 'fr'].map((locale, at) =>
    w.put(`${path}/templates/${locale}`, EMAIL, at === 0 ? {} : { headers: { 'idempotency-key': locale } }),
  )
  await all.promise
  expect((await w.get(path)).status).toBe(200)
  gate.resolve()
  expect((await Promise.all(saving)).map(({ status }) => status)).toEqual([200, 200, 200])
  const refused = await w.put(`${path}/templates/en`, { ...EMAIL, subject: '{% if %}' }, { headers: { 'idempotency-key': 'bad' } })
  const again = await w.put(`${path}/templates/en`, { ...EMAIL, subject: '{% if %}' }, { headers: { 'idempotency-key': 'bad' } })
  expect([refused.status, again.headers['idempotent-replayed'], again.text]).toEqual([422, 'true', refused.text])
})
