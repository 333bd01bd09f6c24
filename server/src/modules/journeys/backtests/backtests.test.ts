import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createJourney, type JourneyClient, userIdOf } from '../../../../test/journeys.ts'
import { select } from '../../../../test/select.ts'
import { createTestClock } from '../../../../test/test-clock.ts'
import { type World, world } from '../../../../test/world.ts'
import { systemClock } from '../../../infra/runtime/clock.ts'
import { type Ctx, inTx } from '../../../infra/runtime/ctx.ts'
import { MINUTE_MS } from '../../../lib/times.ts'
import { type StoredTrail, trailOf } from '../../positions/trail.ts'
import { claimBacktests } from './queries.ts'
import { backtestDue } from './run.ts'

const at = (y: number) => ({ x: 0, y })
const to = (external_id: string, path?: string) => ({ external_id, ...(path !== undefined && { path }) })

/** Every kind of input: an event, a keyed repeat, attributes, a dynamic list that follows, an experiment, and an exit criterion. */
const graph = (list: number) => ({
  start: { type: 'entrance', ...at(0), data: { trigger: 'event', event_name: 'cart', multiple: true }, children: [to('split')] },
  split: {
    type: 'experiment',
    ...at(1),
    data: {
      branches: [
        { path: 'a', weight: 1 },
        { path: 'b', weight: 1 },
      ],
    },
    children: [to('soon', 'a'), to('wait', 'b')],
  },
  soon: { type: 'delay', ...at(2), data: { format: 'duration', hours: 5 }, children: [to('mark')] },
  wait: {
    type: 'wait_until',
    ...at(3),
    data: {
      conditions: [
        { path: 'bought', event_name: 'purchase' },
        { path: 'pro', list_id: list, is: 'in' },
      ],
      timeout: '12h',
    },
    children: [to('thanks', 'bought'), to('thanks', 'pro'), to('mark', 'timeout')],
  },
  mark: { type: 'update', ...at(4), data: { attributes: { stage: '{{ event.data.cart }}' } }, children: [to('check')] },
  check: {
    type: 'gate',
    ...at(5),
    data: { rule: { attribute: 'data.plan', is: 'pro' } },
    children: [to('thanks', 'yes'), to('late', 'no')],
  },
  late: { type: 'delay', ...at(6), data: { format: 'time', time: '09:00' }, children: [to('thanks')] },
  thanks: { type: 'exit', ...at(7) },
  stop: { type: 'exit', ...at(8), data: { as: 'exited', reason: 'cancelled', when: [{ event_name: 'cancel' }] } },
})

async function proList(w: World): Promise<number> {
  const { body } = await w.post('/api/client/lists', { name: 'Pro', type: 'dynamic', rule: { attribute: 'data.plan', is: 'pro' } })
  await w.drain()
  return body.id
}

const NAMES = Array.from({ length: 12 }, (_, index) => `user${index}`)

type Input = { at: string; event?: object; profile?: object }

/** A day and a half of events and attributes, which are applied as they come. No timer is applied more than some minutes late. */
async function aDayAndAHalf(w: World): Promise<Map<string, Input[]>> {
  const inputs = new Map(NAMES.map((name): [string, Input[]] => [name, []]))
  let seed = 7
  const pick = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  for (let tick = 0; tick < 216; tick++) {
    w.advance('1 minute')
    const external_id = NAMES[pick(NAMES.length)] as string
    const is = pick(6)
    const name = ['cart', 'cart', 'purchase', 'cancel', 'login'][pick(5)] as string
    const at = w.clock.now().toISOString()
    if (is === 0) {
      const profile = { data: { plan: pick(2) === 0 ? 'pro' : 'free' } }
      await w.post('/api/client/users/batch', [{ external_id, ...profile }])
      inputs.get(external_id)?.push({ at, profile })
    }
    if (is === 1) {
      const event = { name, data: { cart: `c-${tick}` } }
      await w.post('/api/client/events', [{ ...event, external_id }])
      inputs.get(external_id)?.push({ at, event })
    }
    await w.drain('ingest.apply')
    w.advance('9 minutes')
  }
  return inputs
}

/** All visits of the live journey: user, step, path, instants. */
async function liveVisits(w: World, journey: JourneyClient): Promise<string[]> {
  const rows = await select(
    w,
    `select user_id, trail from journey_entrances where project_id = $1 and journey_id = $2
     union all select user_id, trail from journey_past where project_id = $1 and journey_id = $2`,
    [w.projectId, journey.id],
  )
  return rows.flatMap(({ user_id, trail }) => trailOf(trail as StoredTrail).map((visit) => visitOf(Number(user_id), visit))).sort()
}

/** The visits of a simulation with the inputs that the user had, who had no attributes at the beginning. */
async function simulatedVisits(w: World, journey: JourneyClient, name: string, inputs: Input[], at: string): Promise<string[]> {
  const reset = { at, profile: { data: { plan: null, stage: null } } }
  const until = w.clock.now().toISOString()
  const { body, text } = await journey.post('simulate', { version: 1, user: { external_id: name }, at, inputs: [reset, ...inputs], until })
  expect(body.visits, text).toBeDefined()
  const id = await userIdOf(w, name)
  return body.visits.map((visit: object) => visitOf(id, visit))
}

const visitOf = (user: number, { step, path, reason, arrived_at, left_at }: any) =>
  `${user} ${step} ${path} ${reason} ${arrived_at} ${left_at}`

async function run(w: World, journey: JourneyClient, body: object) {
  const started = await journey.post('backtest', body)
  expect(started.status, started.text).toBe(202)
  expect(started.body).toMatchObject({ state: 'running', progress: { users_done: 0, users_total: null } })
  await w.drain()
  return journey.get(`backtests/${started.body.id}`)
}

describe('a backtest', () => {
  test('of a window gives what the live journey did in it, and a simulation of the inputs of a user gives the same', async () => {
    await using w = await world()
    await w.users(...NAMES)
    await w.drain()
    const journey = await createJourney(w, {}, graph(await proList(w)))
    expect((await journey.post('publish')).status).toBe(200)
    const since = w.clock.now().toISOString()
    const inputs = await aDayAndAHalf(w)
    const { state, result, progress } = await run(w, journey, { since, version: 1 })
    expect(state).toBe('finished')
    expect(progress.users_done).toBe(progress.users_total)
    expect(result.difference).toEqual({})
    expect(result.excluded).toEqual({})
    const live = await liveVisits(w, journey)
    expect(live.length).toBeGreaterThan(40)
    const users = new Set(result.examples.map(({ user_id }: { user_id: number }) => user_id))
    const tested = result.examples.flatMap(({ user_id, visits }: { user_id: number; visits: object[] }) =>
      visits.map((visit) => visitOf(user_id, visit)),
    )
    expect(tested.sort()).toEqual(live.filter((visit) => users.has(Number(visit.split(' ')[0]))))
    expect(result.steps.start.entered).toBe(live.filter((visit) => visit.includes(' start ')).length)
    const simulated: string[] = []
    for (const [name, given] of inputs)
      if (users.has(await userIdOf(w, name))) simulated.push(...(await simulatedVisits(w, journey, name, given, since)))
    expect(simulated.sort()).toEqual(tested)
  }, 120_000)

  test('of a journey with a link counts nothing of the other journey', async () => {
    await using w = await world()
    await w.users('ana')
    const wait = { type: 'delay', ...at(2), data: { format: 'duration', days: 3 } }
    const entrance = (data: object, next: string) => ({ type: 'entrance', ...at(0), data, children: [to(next)] })
    const other = await createJourney(w, { status: 'live' }, { start: entrance({ trigger: 'none' }, 'wait'), wait })
    const start = entrance({ trigger: 'event', event_name: 'cart', multiple: true, concurrent: true }, 'go')
    const go = { type: 'link', ...at(1), data: { journey_id: other.id }, children: [to('wait'), to('wait', 'refused')] }
    const journey = await createJourney(w, { status: 'live' }, { start, go, wait })
    const since = w.clock.now().toISOString()
    for (const _ of ['enters the other one', 'is refused there']) {
      await w.post('/api/client/events', [{ name: 'cart', external_id: 'ana' }])
      await w.drain()
      w.advance('1 minute')
    }
    const { result } = await run(w, journey, { since })
    expect(result).toMatchObject({ entrants: 2, completed: 0, active: 2, refused: {}, difference: {} })
    expect(result.steps.start.entered).toBe(2)
    expect(result.examples[0].visits.map(({ step }: { step: string }) => step)).toEqual(['start', 'go', 'wait', 'start', 'go', 'wait'])
  })

  test('runs one at a time, ten in a day, and can be cancelled', async () => {
    await using w = await world()
    const journey = await createJourney(w, {}, { start: { type: 'entrance', ...at(0), data: { trigger: 'event', event_name: 'cart' } } })
    const since = new Date(w.clock.now().getTime() - 3_600_000).toISOString()
    const first = await journey.post('backtest', { since })
    expect(first.status, first.text).toBe(202)
    expect(await journey.post('backtest', { since })).toMatchObject({ status: 422, body: { code: 'validation_failed' } })
    expect((await w.delete(`${journey.path}/backtests/${first.body.id}`)).status).toBe(204)
    expect(await journey.get(`backtests/${first.body.id}`)).toMatchObject({ state: 'cancelled' })
    for (let count = 1; count < 10; count++) {
      const { body } = await journey.post('backtest', { since })
      await w.drain('journeys.backtest')
      expect(await journey.get(`backtests/${body.id}`)).toMatchObject({ state: 'finished', result: { users: 0, entrants: 0 } })
    }
    expect(await journey.post('backtest', { since })).toMatchObject({ status: 429, body: { code: 'quota_exceeded' } })
    w.advance('1 day')
    expect((await journey.post('backtest', { since })).status).toBe(202)
    expect((await w.get(`${journey.path}/backtests/999999`)).status).toBe(404)
    expect((await w.delete(`${journey.path}/backtests/999999`)).status).toBe(404)
  })

  test('of steps that are not stored stores no secret of their headers', async () => {
    await using w = await world()
    const journey = await createJourney(w, {})
    const data = { url: 'https://example.com/', headers: { authorization: { secret: 'Bearer s3cret' }, 'x-plain': 'a' } }
    const call = { type: 'webhook', ...at(1), data, children: [to('thanks')] }
    const start = { type: 'entrance', ...at(0), data: { trigger: 'event', event_name: 'cart' }, children: [to('call')] }
    const since = new Date(w.clock.now().getTime() - 3_600_000).toISOString()
    const { status, text } = await journey.post('backtest', { steps: { start, call, thanks: { type: 'exit', ...at(2) } }, since })
    expect(status, text).toBe(202)
    const [row] = await select(w, 'select params::text from journey_backtests where project_id = $1', [w.projectId])
    expect(row?.params).not.toContain('s3cret')
    expect(JSON.parse(row?.params as string).steps.call.data.headers).toEqual({ authorization: { secret: '********' }, 'x-plain': 'a' })
    await w.drain()
    expect(await select(w, 'select state from journey_backtests where project_id = $1', [w.projectId])).toEqual([{ state: 'finished' }])
  })

  test('has no examples of users who were erased since', async () => {
    await using w = await world()
    await w.users('ana', 'ben')
    const journey = await createJourney(w, {}, { start: { type: 'entrance', ...at(0), data: { trigger: 'event', event_name: 'cart' } } })
    const since = w.clock.now().toISOString()
    w.advance('1 minute')
    for (const external_id of ['ana', 'ben']) await w.post('/api/client/events', [{ external_id, name: 'cart' }])
    await w.drain()
    w.advance('1 minute')
    const { body } = await journey.post('backtest', { since })
    await w.drain()
    const examples = async () =>
      (await journey.get(`backtests/${body.id}`)).result.examples.map(({ user_id }: { user_id: number }) => user_id)
    const [ana, ben] = [await userIdOf(w, 'ana'), await userIdOf(w, 'ben')]
    expect(await examples()).toEqual([ana, ben])
    await w.delete('/api/client/users/ana')
    expect(await examples()).toEqual([ben])
    await w.drain()
    expect(await examples()).toEqual([ben])
    const [stored] = await select(w, `select result -> 'examples' as examples from journey_backtests where id = $1`, [body.id])
    expect(stored?.examples).toMatchObject([{ user_id: ben }])
  })

  test('of a window that is over differs from the live journey by nothing that came after it', async () => {
    await using w = await world()
    await w.users('ana')
    const wait = { type: 'delay', ...at(1), data: { format: 'duration', hours: 2 }, children: [to('end')] }
    const start = { type: 'entrance', ...at(0), data: { trigger: 'event', event_name: 'cart' }, children: [to('wait')] }
    const journey = await createJourney(w, { status: 'live' }, { start, wait, end: { type: 'exit', ...at(2) } })
    const since = w.clock.now().toISOString()
    w.advance('1 minute')
    await w.post('/api/client/events', [{ name: 'cart', external_id: 'ana' }])
    await w.drain()
    w.advance('1 hour')
    const until = w.clock.now().toISOString()
    w.advance('2 hours')
    await w.drain()
    const { result } = await run(w, journey, { since, until, version: 1 })
    expect(result).toMatchObject({ entrants: 1, active: 1 })
    expect(result.difference).toEqual({})
  })

  test('has the users who entered because they were in the list already', async () => {
    await using w = await world()
    await w.users('ana', 'bob')
    const { id: list_id } = (await w.post('/api/client/lists', { name: 'All', type: 'static' })).body
    await w.post(`/api/client/lists/${list_id}/users`, { external_ids: ['ana', 'bob'] })
    await w.drain()
    w.advance('1 minute')
    const since = w.clock.now().toISOString()
    w.advance('1 minute')
    const start = { type: 'entrance', ...at(0), data: { trigger: 'list', list_id, existing: true }, children: [to('end')] }
    const journey = await createJourney(w, { status: 'live' }, { start, end: { type: 'exit', ...at(2) } })
    await w.drain()
    w.advance('1 minute')
    const { result } = await run(w, journey, { since, version: 1 })
    expect(result).toMatchObject({ entrants: 2, completed: 2 })
    expect(result.difference).toEqual({})
  })

  test('sends nothing to an address from when it was suppressed', async () => {
    await using w = await world()
    await w.users('ana')
    const { id: subscription_id } = (await w.post('/api/client/subscriptions', { name: 'News', channel: 'email' })).body
    const campaign = { name: 'Hello', type: 'trigger', channel: 'email', event_name: 'never', subscription_id }
    const { id } = (await w.post('/api/client/campaigns', campaign)).body
    await w.put(`/api/client/campaigns/${id}/templates/en`, { subject: 'Hello', from: 'a@example.com', html: '<p>Hi</p>' })
    await w.patch(`/api/client/campaigns/${id}`, { state: 'running' })
    const journey = await createJourney(
      w,
      {},
      {
        start: {
          type: 'entrance',
          ...at(0),
          data: { trigger: 'event', event_name: 'cart', multiple: true },
          children: [{ external_id: 'send' }],
        },
        send: { type: 'action', ...at(1), data: { campaign_id: id } },
      },
    )
    const since = w.clock.now().toISOString()
    const cart = async () => {
      w.advance('1 hour')
      await w.post('/api/client/events', [{ name: 'cart', external_id: 'ana' }])
      await w.drain('ingest.apply')
    }
    await cart()
    w.advance('1 hour')
    const suppressed = await w.post('/api/client/suppressions', [{ channel: 'email', address: 'ana@example.com' }])
    expect(suppressed.status, suppressed.text).toBeLessThan(300)
    await cart()
    w.advance(1)
    const { body } = await journey.post('backtest', { since })
    await w.drain('journeys.backtest')
    expect(await journey.get(`backtests/${body.id}`)).toMatchObject({ result: { entrants: 2, sends: 1, skips: { suppressed: 1 } } })
  })

  test('lets users of an import enter only where the entrance says so', async () => {
    await using w = await world()
    const since = w.clock.now().toISOString()
    const list = (await w.post('/api/client/lists', { name: 'All', type: 'static' })).body.id
    const file = { raw: 'external_id\nana\n', headers: { 'content-type': 'text/csv' } }
    expect((await w.post(`/api/client/lists/${list}/import`, undefined, file)).status).toBeLessThan(300)
    await w.drain()
    await w.users('lee')
    await w.drain()
    w.advance(1)
    for (const [imports, entrants] of [
      [false, 1],
      [true, 2],
    ]) {
      const data = { trigger: 'event', event_name: 'user_created', imports }
      const journey = await createJourney(w, {}, { start: { type: 'entrance', ...at(0), data } })
      const { body } = await journey.post('backtest', { since })
      await w.drain('journeys.backtest')
      expect(await journey.get(`backtests/${body.id}`)).toMatchObject({ result: { entrants } })
    }
  })

  test('that a process computes is not claimed by another one, whose clock is ahead', async () => {
    await using w = await world()
    const journey = await createJourney(w, {}, { start: { type: 'entrance', ...at(0), data: { trigger: 'event', event_name: 'cart' } } })
    await journey.post('backtest', { since: new Date(w.clock.now().getTime() - 3_600_000).toISOString() })
    /** A process on a machine of its own. */
    const processAt = (aheadMs: number) => {
      const { now, sleep } = createTestClock(new Date(systemClock.now().getTime() + aheadMs))
      return { ...w.ctx, clock: { now, sleep, skewMs: 250 } }
    }
    const [first, other] = [processAt(0), processAt(10 * MINUTE_MS)]
    const claim = (ctx: Ctx) =>
      inTx(ctx, (ctx) => claimBacktests(ctx, 1, randomUUID(), new Date(ctx.clock.now().getTime() + 2 * MINUTE_MS)))
    expect([await claim(first), await claim(other)]).toMatchObject([[{ attempts: 1 }], []])
  })

  test('that its process left is computed again when the lease ends, and fails after three times', async () => {
    await using w = await world()
    const journey = await createJourney(w, {}, { start: { type: 'entrance', ...at(0), data: { trigger: 'event', event_name: 'cart' } } })
    const since = new Date(w.clock.now().getTime() - 3_600_000).toISOString()
    const { id } = (await journey.post('backtest', { since })).body
    const leave = (attempts: number) =>
      select(
        w,
        `update journey_backtests set state = 'running', attempts = $2, lease_token = gen_random_uuid(), lease_until = $3 where id = $1`,
        [id, attempts, new Date(w.clock.now().getTime() + 60_000)],
      )
    await leave(1)
    await (await backtestDue(w.ctx)).finished
    expect((await journey.get(`backtests/${id}`)).state).toBe('running')
    w.advance('2 minutes')
    await (await backtestDue(w.ctx)).finished
    expect((await journey.get(`backtests/${id}`)).state).toBe('finished')
    await leave(3)
    w.advance('2 minutes')
    await (await backtestDue(w.ctx)).finished
    expect((await journey.get(`backtests/${id}`)).state).toBe('failed')
  })

  test.each([
    ['91 days ago', { since: '2026-08-24T09:00:00Z' }, 'since'],
    ['in the future', { since: '2026-11-20T09:00:00Z', until: '2026-11-24T09:00:00Z' }, 'until'],
    ['that ends before it begins', { since: '2026-11-20T09:00:00Z', until: '2026-11-19T09:00:00Z' }, 'until'],
  ])('of a window %s is refused', async (_, body, param) => {
    await using w = await world()
    const journey = await createJourney(w, {}, { start: { type: 'entrance', ...at(0), data: { trigger: 'event', event_name: 'cart' } } })
    expect(await journey.post('backtest', body)).toMatchObject({ status: 422, body: { error: { param } } })
  })
})

test('a process computes two backtests at a time, however many projects have one', async () => {
  await using w = await world({ own: true })
  for (let count = 0; count < 3; count++) {
    const { projectId } = await w.other()
    await select(
      w,
      `with journey as (
         insert into journeys (project_id, name, status, created_at, updated_at) values ($1, 'Other', 'off', $2, $2) returning id
       )
       insert into journey_backtests (project_id, journey_id, params, state, created_at) select $1, id, $3, 'running', $2 from journey`,
      [projectId, w.clock.now(), { since: w.clock.now().toISOString(), until: w.clock.now().toISOString() }],
    )
  }
  const first = await backtestDue(w.ctx)
  const second = await backtestDue(w.ctx)
  expect([first.done, second.done]).toEqual([2, 0])
  await Promise.all([first.finished, second.finished])
  const third = await backtestDue(w.ctx)
  expect(third.done).toBe(1)
  await third.finished
})
