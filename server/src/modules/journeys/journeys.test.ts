import { describe, expect, test } from 'vitest'
import { createJourney, READY } from '../../../test/journeys.ts'
import { type World, world } from '../../../test/world.ts'

const JOURNEYS = '/api/client/journeys'
const pathOf = ({ id }: { id: number }) => `${JOURNEYS}/${id}`
const stepsOf = (journey: { id: number }) => `${pathOf(journey)}/steps`

async function make(w: World, body: object = {}) {
  const reply = await w.post(JOURNEYS, { name: 'Welcome', ...body })
  expect(reply.status, reply.text).toBe(201)
  return reply.body
}

const graph = {
  start: {
    type: 'entrance',
    name: '',
    x: 0,
    y: 0,
    data: { trigger: 'event', event_name: 'order_placed', multiple: false, concurrent: false },
    children: [{ external_id: 'w1' }],
  },
  w1: { type: 'delay', x: 0, y: 160, data: { format: 'duration', days: 0, hours: 1, minutes: 0 }, children: [{ external_id: 'send1' }] },
  send1: { type: 'action', x: 0, y: 320.5, data: {} },
}

/** Steps that can be published. */
const ready = { ...graph, send1: { type: 'exit', x: 0, y: 320 } }

describe('journeys', () => {
  test('members that are not given get their default or are left out of replies', async () => {
    await using w = await world()
    const { status, body, headers } = await w.post(JOURNEYS, { name: ' Welcome ' }, { key: w.keys.editor })
    expect(status).toBe(201)
    expect(headers.location).toBe(pathOf(body))
    const at = w.clock.now().toISOString()
    expect(body).toEqual({
      id: expect.any(Number),
      project_id: w.projectId,
      name: 'Welcome',
      status: 'draft',
      tags: [],
      stats: {},
      created_at: at,
      updated_at: at,
    })
    expect((await w.get(pathOf(body), { key: w.keys.support })).body).toEqual(body)
  })

  test.each(['draft', 'live', 'off'])('a journey can be created with the status %s', async (status) => {
    await using w = await world()
    expect(await w.post(JOURNEYS, { name: 'Welcome', status }, { key: w.keys.publisher })).toMatchObject({ status: 201, body: { status } })
  })

  test('every status can change to every other', async () => {
    await using w = await world()
    const journey = await make(w)
    for (const status of ['live', 'off', 'live', 'draft', 'off', 'draft']) {
      expect((await w.patch(pathOf(journey), { status })).body).toMatchObject({ status })
    }
  })

  test('updated_at changes only if another member does, and an empty description is removed', async () => {
    await using w = await world()
    const journey = await make(w, { description: 'Hello', tags: ['a', 'b', 'a'] })
    expect(journey).toMatchObject({ description: 'Hello', tags: ['a', 'b'] })
    w.advance('1 hour')
    for (const same of [{}, { name: 'Welcome' }, { tags: ['a', 'b', 'b'] }])
      expect((await w.patch(pathOf(journey), same)).body).toEqual(journey)
    const { description: _, ...rest } = journey
    const cleared = { ...rest, tags: ['a'], updated_at: w.clock.now().toISOString() }
    expect((await w.patch(pathOf(journey), { description: null, tags: ['a'] })).body).toEqual(cleared)
    expect((await w.patch(pathOf(journey), { description: '' })).body).toEqual(cleared)
    expect(await make(w, { description: '' })).not.toHaveProperty('description')
  })

  test.each([
    [{}, 'parameter_missing', 'name'],
    [{ name: ' ' }, 'parameter_invalid_empty', 'name'],
    [{ name: 'x', status: 'paused' }, 'parameter_invalid_format', 'status'],
    [{ name: 'x', description: null }, 'parameter_invalid_format', 'description'],
    [{ name: 'x', tags: ['a', ' '] }, 'parameter_invalid_empty', 'tags[1]'],
    [{ name: 'x', stats: {} }, 'parameter_unknown', 'stats'],
  ])('%j is refused', async (body, code, param) => {
    await using w = await world()
    expect((await w.post(JOURNEYS, body)).body).toMatchObject({ code, error: { param } })
  })

  test('a create that is repeated with its idempotency key creates one journey', async () => {
    await using w = await world()
    const headers = { 'idempotency-key': 'welcome' }
    const first = await w.post(JOURNEYS, { name: 'Once' }, { headers })
    const second = await w.post(JOURNEYS, { name: 'Once' }, { headers })
    expect(second.body).toEqual(first.body)
    expect(second.headers['idempotent-replayed']).toBe('true')
    expect((await w.get(`${JOURNEYS}?q=once`)).body.results).toHaveLength(1)
  })

  test('journeys are listed newest first, paged both ways, and searched by name, description and tag', async () => {
    await using w = await world()
    await make(w, { name: 'A', tags: ['Sale'] })
    await make(w, { name: 'B', description: 'For sales' })
    await make(w, { name: 'C' })
    const names = ({ results }: { results: { name: string }[] }) => results.map(({ name }) => name)
    const first = (await w.get(`${JOURNEYS}?limit=2`)).body
    expect(names(first)).toEqual(['C', 'B'])
    const second = (await w.get(`${JOURNEYS}?limit=2&cursor=${first.nextCursor}`)).body
    expect(names(second)).toEqual(['A'])
    expect(names((await w.get(`${JOURNEYS}?limit=2&page=prev&cursor=${second.prevCursor}`)).body)).toEqual(['C', 'B'])
    expect(names((await w.get(`${JOURNEYS}?q=SALE&sort=name`)).body)).toEqual(['A', 'B'])
    expect((await w.get(`${JOURNEYS}?sort=tags`)).status).toBe(400)
  })

  test('a journey that is archived or of another project is not found', async () => {
    await using w = await world()
    const journey = await make(w)
    const everywhere = async (key: string) => [
      (await w.get(pathOf(journey), { key })).status,
      (await w.patch(pathOf(journey), { name: 'x' }, { key })).status,
      (await w.delete(pathOf(journey), { key })).status,
      (await w.get(stepsOf(journey), { key })).status,
      (await w.put(stepsOf(journey), graph, { key })).status,
    ]
    const { keys } = await w.other()
    expect(await everywhere(keys.secret)).toEqual(Array(5).fill(404))
    expect((await w.get(JOURNEYS, { key: keys.secret })).body.results).toEqual([])
    expect((await w.delete(pathOf(journey), { key: w.keys.editor })).status).toBe(204)
    expect(await everywhere(w.keys.secret)).toEqual(Array(5).fill(404))
    expect((await w.get(JOURNEYS)).body.results).toEqual([])
  })

  test('an archived journey is listed apart and can be restored', async () => {
    await using w = await world()
    const journey = await make(w)
    await w.delete(pathOf(journey))
    expect((await w.get(`${JOURNEYS}?archived=true`)).body.results).toMatchObject([
      { id: journey.id, archived_at: w.clock.now().toISOString() },
    ])
    const { body } = await w.post(`${pathOf(journey)}/unarchive`, undefined, { key: w.keys.editor })
    expect(body).toMatchObject({ id: journey.id, status: 'draft' })
    expect(body.archived_at).toBeUndefined()
    expect((await w.post(`${pathOf(journey)}/unarchive`)).status).toBe(200)
    expect((await w.get(`${JOURNEYS}?archived=true`)).body.results).toEqual([])
    expect((await w.get(JOURNEYS)).body.results).toMatchObject([{ id: journey.id }])
  })

  test('editors change drafts; any other change needs a publisher', async () => {
    await using w = await world()
    const as = { key: w.keys.editor }
    const refused = { status: 403, body: { code: 'permission_denied', error: { reason: 'role' } } }
    for (const status of ['live', 'off']) expect(await w.post(JOURNEYS, { name: 'x', status }, as)).toMatchObject(refused)
    const journey = await make(w)
    expect((await w.patch(pathOf(journey), { name: 'x', status: 'draft' }, as)).status).toBe(200)
    for (const status of ['live', 'off']) {
      expect(await w.patch(pathOf(journey), { status }, as)).toMatchObject(refused)
      await w.patch(pathOf(journey), { status }, { key: w.keys.publisher })
      expect(await w.patch(pathOf(journey), { name: 'y' }, as)).toMatchObject(refused)
      expect(await w.put(stepsOf(journey), graph, as)).toMatchObject(refused)
      expect(await w.delete(pathOf(journey), as)).toMatchObject(refused)
      expect((await w.put(stepsOf(journey), ready, { key: w.keys.publisher })).status).toBe(200)
      await w.patch(pathOf(journey), { status: 'draft' })
    }
    for (const key of [w.keys.support, w.keys.smtpproxy]) expect(await w.post(JOURNEYS, {}, { key })).toMatchObject(refused)
  })
})

describe('steps', () => {
  test('are returned with ids and stats', async () => {
    await using w = await world()
    const journey = await make(w)
    expect((await w.get(stepsOf(journey))).body).toEqual({})
    const { status, body } = await w.put(stepsOf(journey), graph, { key: w.keys.editor })
    expect(status).toBe(200)
    const added = { id: expect.any(Number), name: '', stats: {} }
    expect(body).toEqual({
      start: { ...graph.start, ...added },
      w1: { ...graph.w1, ...added },
      send1: { ...graph.send1, ...added, children: [] },
    })
    expect((await w.get(stepsOf(journey), { key: w.keys.support })).body).toEqual(body)
  })

  test('are replaced together, and a step that keeps its key keeps its id', async () => {
    await using w = await world()
    const journey = await make(w)
    const before = (await w.put(stepsOf(journey), graph)).body
    const next = { start: { ...graph.start, children: [{ external_id: 'out', path: 'yes' }] }, out: { type: 'exit', x: 1, y: 1 } }
    const after = (await w.put(stepsOf(journey), next)).body
    expect(Object.keys(after).sort()).toEqual(['out', 'start'])
    expect(after.start).toEqual({ ...before.start, children: [{ external_id: 'out', path: 'yes' }] })
    expect((await w.put(stepsOf(journey), {})).body).toEqual({})
  })

  test('do not change if the new graph has a fault', async () => {
    await using w = await world()
    const journey = await make(w)
    const before = (await w.put(stepsOf(journey), graph)).body
    const wrong = { a: { type: 'gate', x: 0, y: 0, children: [{ external_id: 'b' }] } }
    const refused = { status: 422, body: { code: 'validation_failed', error: { param: 'a.children[0].external_id' } } }
    expect(await w.put(stepsOf(journey), wrong)).toMatchObject(refused)
    expect((await w.put(stepsOf(journey), [])).status).toBe(400)
    const many = Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`s${at}`, { type: 'exit', x: 0, y: 0 }]))
    expect(await w.put(stepsOf(journey), many)).toMatchObject({ status: 422, body: { code: 'validation_failed' } })
    expect((await w.get(stepsOf(journey))).body).toEqual(before)
  })

  test('of different journeys may have the same keys, also unusual ones', async () => {
    await using w = await world()
    const [one, two] = [await make(w), await make(w)]
    const odd = '{"__proto__":{"type":"exit","x":0,"y":0},"constructor":{"type":"exit","x":0,"y":0}}'
    for (const journey of [one, two]) {
      const { status, text } = await w.request('PUT', stepsOf(journey), undefined, { raw: odd })
      expect(status).toBe(200)
      expect(Object.keys(JSON.parse(text)).sort()).toEqual(['__proto__', 'constructor'])
    }
  })
})

test('a journey that is archived while it is drained has no end of the drain when it is restored', async () => {
  await using w = await world()
  const journey = await createJourney(w, { status: 'live' }, READY)
  expect((await journey.post('drain', { within: '3d' })).body.drain_until).toBeDefined()
  expect((await w.delete(journey.path)).status).toBe(204)
  expect((await w.post(`${journey.path}/unarchive`)).body.drain_until).toBeUndefined()
})
