import { describe, expect, test } from 'vitest'
import { createJourney, putInside, queuedItems, READY, userIdOf } from '../../../../test/journeys.ts'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import type { JourneyId, UserId } from '../../../lib/ids.ts'
import { appendJourneyItems } from '../append-items.ts'

const failed = (param: string) => ({ status: 422, body: { code: 'validation_failed', error: { param } } })
const enters = (external_id: string, more: object = {}) => ({ external_id, ...more })

async function insideStates(w: World, journey: { path: string }): Promise<string[]> {
  return (await w.get(`${journey.path}/users`)).body.results.map(({ user, step }: any) => `${user.external_id} ${step}`)
}

describe('a request to enter', () => {
  test('lets a user enter by the rules of the entrance', async () => {
    await using w = await world()
    await w.users('ana')
    const journey = await createJourney(w, { status: 'live' }, READY)
    const { status, body } = await journey.post('entrances', enters('ana', { data: { total: 5 } }))
    expect(status).toBe(202)
    await w.drain()
    expect(await insideStates(w, journey)).toEqual(['ana w1'])
    expect((await journey.get('users')).results[0]).toMatchObject({ entrance_id: body.entrance_id, state: 'inside', version: 1, visit: 2 })
    expect(await journey.read()).toMatchObject({ stats: { entered: 1, active: 1, completed: 0, exited: 0 }, stats_at: expect.any(String) })
    await journey.post('entrances', enters('ana'))
    await w.drain()
    expect((await journey.get('stats')).refused).toEqual({ already_inside: 1 })
  })

  test('that is repeated with its key has the same id, and lets the user enter once', async () => {
    await using w = await world()
    await w.users('ana')
    const journey = await createJourney(
      w,
      { status: 'live' },
      { ...READY, api: { ...READY.api, data: { trigger: 'api', multiple: true } } },
    )
    const one = (await journey.post('entrances', enters('ana', { key: 'cart-1' }))).body
    const again = (await journey.post('entrances', enters('ana', { key: 'cart-1' }))).body
    expect(again).toEqual(one)
    expect((await journey.post('entrances', enters('ana', { key: 'cart-2' }))).body).not.toEqual(one)
    await w.drain()
    expect(await insideStates(w, journey)).toEqual(['ana w1', 'ana w1'])
  })

  test.each([
    [{}, 400, 'external_id'],
    [{ external_id: 'ana', anonymous_id: 'x' }, 422, 'anonymous_id'],
    [{ external_id: 'nobody' }, 422, 'external_id'],
    [{ external_id: 'ana', entrance: 'w1' }, 422, 'entrance'],
    [{ external_id: 'ana', key: ' ' }, 400, 'key'],
    [{ external_id: 'ana', extra: 1 }, 400, 'extra'],
  ])('with %j is refused', async (body, status, param) => {
    await using w = await world()
    await w.users('ana')
    const journey = await createJourney(w, { status: 'live' }, READY)
    expect(await journey.post('entrances', body)).toMatchObject({ status, body: { error: { param } } })
    expect(await queuedItems(w)).toEqual([])
  })

  test('into a journey that is not live, or without an entrance for it, is refused', async () => {
    await using w = await world()
    await w.users('ana')
    const draft = await createJourney(w, {}, READY)
    expect(await draft.post('entrances', enters('ana'))).toMatchObject(failed('status'))
    const { api: _, ...rest } = READY
    const other = await createJourney(w, { status: 'live' }, rest)
    expect(await other.post('entrances', enters('ana'))).toMatchObject(failed('entrance'))
    expect((await other.post('entrances', enters('ana', { entrance: 'start' }))).status).toBe(202)
    await w.patch(other.path, { status: 'off' })
    expect(await other.post('entrances', enters('ana', { entrance: 'start' }))).toMatchObject(failed('status'))
  })
})

describe('a user inside', () => {
  const steps = { ...READY, w1: { ...READY.w1, children: [{ external_id: 'w2' }] }, w2: { ...READY.w1 } }

  async function inside(w: World) {
    await w.users('ana', 'bob')
    const journey = await createJourney(w, { status: 'live' }, steps)
    const { entrance_id } = (await journey.post('entrances', enters('ana'))).body
    await w.drain()
    return { journey, entrance_id: entrance_id as number }
  }

  test('is moved to a step, skips one, and is removed', async () => {
    await using w = await world()
    const { journey, entrance_id } = await inside(w)
    const concerned = { status: 202, body: { entrance_ids: [entrance_id] } }
    expect(await journey.post('users/ana/move', { to: 'w2' })).toMatchObject(concerned)
    await w.drain()
    expect(await insideStates(w, journey)).toEqual(['ana w2'])
    expect(await journey.post('users/ana/move', { to: 'w1', entrance_id })).toMatchObject(concerned)
    await w.drain()
    expect(await journey.post('users/ana/skip')).toMatchObject(concerned)
    await w.drain()
    expect(await insideStates(w, journey)).toEqual(['ana w2'])
    expect(await w.delete(`${journey.path}/users/ana?entrance_id=${entrance_id}`)).toMatchObject(concerned)
    await w.drain()
    expect(await insideStates(w, journey)).toEqual([])
    expect((await journey.get('users/ana')).entrances[0]).toMatchObject({ outcome: 'exited', reason: 'removed' })
  })

  const later = (to: string) => ({ x: 0, y: 0, children: [{ external_id: to }] })

  test('skips the step that the request was about, and no later one', async () => {
    await using w = await world()
    await w.users('ana')
    const graph = { ...steps, w1: { ...READY.w1, ...later('w2') }, w2: { ...READY.w1, ...later('w3') }, w3: READY.w1 }
    const journey = await createJourney(w, { status: 'live' }, graph)
    await journey.post('entrances', enters('ana'))
    await w.drain()
    for (const _ of ['a click', 'another one']) expect((await journey.post('users/ana/skip')).status).toBe(202)
    await w.drain()
    expect(await insideStates(w, journey)).toEqual(['ana w2'])
  })

  test('stays at a step without a default path that is skipped by an item without its visit', async () => {
    await using w = await world()
    await w.users('ana')
    const waits = {
      ...{ type: 'wait_until', x: 0, y: 0, data: { conditions: [{ path: 'bought', event_name: 'purchase' }], timeout: '3d' } },
      children: ['bought', 'timeout'].map((path) => ({ external_id: 'w3', path })),
    }
    const journey = await createJourney(w, { status: 'live' }, { ...steps, w2: waits, w3: READY.w1 })
    await journey.post('entrances', enters('ana'))
    await w.drain()
    w.advance('48 hours')
    await w.drain()
    const [journey_id, user_id] = [journey.id as JourneyId, (await userIdOf(w, 'ana')) as UserId]
    await inTx(w.ctx, (ctx) => appendJourneyItems(ctx, [{ do: 'skip', journey_id, user_id }]))
    await w.drain()
    expect(await insideStates(w, journey)).toEqual(['ana w2'])
  })

  test('that is parked is decided about again', async () => {
    await using w = await world()
    await w.users('ana')
    const journey = await createJourney(w, { status: 'live' }, steps)
    const entrance_id = await putInside(w, journey, { user: 'ana' })
    expect(await journey.post('users/ana/retry', { entrance_id })).toMatchObject({ status: 202, body: { entrance_ids: [entrance_id] } })
    expect(await queuedItems(w)).toMatchObject([{ do: 'retry', entrance_id, journey_id: journey.id }])
  })

  test.each<[string, (w: World, path: string) => Promise<unknown>, string]>([
    ['a move to an unknown step', (w, path) => w.post(`${path}/users/ana/move`, { to: 'nowhere' }), 'to'],
    ['a move to an entrance', (w, path) => w.post(`${path}/users/ana/move`, { to: 'start' }), 'to'],
    ['a move of someone outside', (w, path) => w.post(`${path}/users/bob/move`, { to: 'w2' }), 'userId'],
    ['skipping for someone outside', (w, path) => w.post(`${path}/users/bob/skip`), 'userId'],
    ['another entrance', (w, path) => w.delete(`${path}/users/ana?entrance_id=7`), 'entrance_id'],
  ])('%s is refused', async (_, request, param) => {
    await using w = await world()
    const { journey } = await inside(w)
    expect(await request(w, journey.path)).toMatchObject(failed(param))
    expect(await queuedItems(w)).toEqual([])
  })

  test('cannot skip a step without a default path', async () => {
    await using w = await world()
    await w.users('ana')
    const gate = {
      type: 'gate',
      x: 0,
      y: 0,
      data: { rule: { attribute: 'data.plan', is: 'pro' } },
      children: [
        { external_id: 'out', path: 'yes' },
        { external_id: 'out', path: 'no' },
      ],
    }
    const journey = await createJourney(w, { status: 'live' }, { ...READY, w1: { ...READY.w1, children: [{ external_id: 'g' }] }, g: gate })
    await putInside(w, journey, { user: 'ana', step: 'g' })
    expect(await journey.post('users/ana/skip')).toMatchObject(failed('userId'))
  })

  test('of an unknown name, or a journey of another project, is not found', async () => {
    await using w = await world()
    const { journey } = await inside(w)
    const { keys } = await w.other()
    for (const action of ['move', 'skip', 'retry']) {
      const body = action === 'move' ? { to: 'w1' } : {}
      expect((await journey.post(`users/nobody/${action}`, body)).status).toBe(404)
      expect((await w.post(`${journey.path}/users/ana/${action}`, body, { key: keys.secret })).status).toBe(404)
    }
    expect((await w.delete(`${journey.path}/users/nobody`)).status).toBe(404)
  })
})

describe('a journey', () => {
  async function withUsers(w: World) {
    await w.users('ana', 'bob')
    const journey = await createJourney(w, { status: 'live' }, READY)
    for (const user of ['ana', 'bob']) await journey.post('entrances', enters(user))
    await w.drain()
    return journey
  }

  test('that is stopped is off, and all its users exit', async () => {
    await using w = await world()
    const journey = await withUsers(w)
    expect(await journey.post('stop')).toMatchObject({ status: 202, body: { status: 'off' } })
    await w.drain()
    expect(await insideStates(w, journey)).toEqual([])
    expect(await journey.get('stats')).toMatchObject({ entered: 2, active: 0, exited: 2, reasons: { stopped: 2 } })
  })

  test('that is drained is off, and those who are still inside exit later', async () => {
    await using w = await world()
    const journey = await withUsers(w)
    expect((await journey.post('drain')).body).not.toHaveProperty('drain_until')
    const { status, body } = await journey.post('drain', { within: '1d' })
    expect([status, body.status, body.drain_until]).toEqual([202, 'off', new Date(w.clock.now().getTime() + 86_400_000).toISOString()])
    await w.drain()
    expect(await insideStates(w, journey)).toHaveLength(2)
    w.advance('1 day')
    await w.drain()
    expect(await insideStates(w, journey)).toEqual([])
    expect((await journey.get('stats')).reasons).toEqual({ drained: 2 })
  })

  test('that is switched on again is not drained any more', async () => {
    await using w = await world()
    const journey = await withUsers(w)
    await journey.post('drain', { within: '1d' })
    expect((await w.patch(journey.path, { status: 'live' })).body).not.toHaveProperty('drain_until')
    w.advance('1 day')
    await w.drain()
    expect(await insideStates(w, journey)).toHaveLength(2)
  })

  test('that was a draft meanwhile and is published is not drained any more', async () => {
    await using w = await world()
    const journey = await withUsers(w)
    await journey.post('drain', { within: '7d' })
    w.advance('6 days')
    await w.drain()
    expect((await w.patch(journey.path, { status: 'draft' })).status).toBe(200)
    await journey.put(READY)
    expect((await journey.post('publish')).body).toMatchObject({ version: 2 })
    await w.users('cat')
    await journey.post('entrances', { external_id: 'cat' })
    await w.drain()
    w.advance('1 day')
    await w.drain()
    expect(await insideStates(w, journey)).toEqual(['cat w1'])
  })

  test('that is held stops its timers until it is resumed', async () => {
    await using w = await world()
    const journey = await withUsers(w)
    expect(await journey.post('hold')).toMatchObject({ status: 200, body: { is_held: true, status: 'live' } })
    w.advance('3 days')
    await w.drain()
    expect(await insideStates(w, journey)).toHaveLength(2)
    const { status, body } = await journey.post('resume')
    expect([status, body.is_held]).toEqual([200, undefined])
    await w.drain()
    expect(await insideStates(w, journey)).toEqual([])
    expect(await journey.read()).toMatchObject({ stats: { completed: 2 } })
  })

  test('that is archived lets its users exit', async () => {
    await using w = await world()
    const journey = await withUsers(w)
    expect((await w.delete(journey.path)).status).toBe(204)
    await w.drain()
    expect((await w.get(journey.path)).status).toBe(404)
    const past = await select(w, 'select reason from journey_past where project_id = $1', [w.projectId])
    expect(past).toEqual([{ reason: 'archived' }, { reason: 'archived' }])
  })

  test.each(['drain', 'stop', 'hold', 'resume'])('that is a draft cannot %s', async (action) => {
    await using w = await world()
    const journey = await createJourney(w, {}, READY)
    expect(await journey.post(action)).toMatchObject(failed('status'))
  })

  test.each([{ within: '0d' }, { within: 'soon' }, { within: 3 }, { within: '201y' }, { within: '999999999y' }])(
    'cannot be drained with %j',
    async (body) => {
      await using w = await world()
      const journey = await createJourney(w, { status: 'live' }, READY)
      expect(await journey.post('drain', body)).toMatchObject({ body: { error: { param: 'within' } } })
    },
  )
})
