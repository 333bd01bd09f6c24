/** What journeys do when users are merged or erased, clocks are set, and journeys are held or stopped. */
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { sql } from '../../src/infra/postgres/db.ts'
import { type StoredTrail, trailOf } from '../../src/modules/positions/index.ts'
import { listOf } from '../blasts.ts'
import { createJourney, userIdOf } from '../journeys.ts'
import { answerOrders, sendOver } from '../mailing.ts'
import { openRelay } from '../relay.ts'
import { select } from '../select.ts'
import { type World, world } from '../world.ts'

const at = { x: 0, y: 0 }
const to = (...keys: string[]) => keys.map((external_id) => ({ external_id }))
const start = { type: 'entrance', ...at, data: { trigger: 'event', event_name: 'cart', multiple: true }, children: to('wait') }
const steps = {
  start,
  wait: { type: 'delay', ...at, data: { hours: 1 }, children: to('end') },
  end: { type: 'exit', ...at },
}

const live = (w: World, graph: object = steps) => createJourney(w, { status: 'live' }, graph)
const send = (w: World, ...items: object[]) => w.post('/api/client/events', items)

const Counted = Type.Object({ what: Type.String(), reason: Type.Unsafe<string | null>({}), users: Type.Integer() })
const counts = async (w: World, ...what: string[]) =>
  Object.fromEntries(
    (
      await w.db.many(
        Counted,
        sql`select what, max(reason) as reason, sum(users)::int as users from journey_counts
            where project_id = ${w.projectId} and what = any(${what}::text[]) group by what order by what`,
      )
    ).map(({ what, users }) => [what, users]),
  )
const inside = (w: World) =>
  select(
    w,
    'select user_id::int, entrance_id::int8, due_at, parked, is_held, acted_at from journey_entrances where project_id = $1 order by entered_at',
    [w.projectId],
  )
const past = (w: World) =>
  select(w, 'select user_id::int, outcome, reason, ended_at from journey_past where project_id = $1 order by ended_at, entrance_id', [
    w.projectId,
  ])

test('users in an exclusion list of a journey do not enter it, and others do', async () => {
  await using w = await world()
  const staff = await listOf(w, 'lee')
  await w.users('ana')
  const journey = await createJourney(w, {}, steps)
  expect((await w.patch(journey.path, { settings: { exclusion_list_ids: [staff] } })).status).toBe(200)
  expect((await journey.post('publish')).status).toBe(200)
  await send(w, { name: 'cart', external_id: 'lee' }, { name: 'cart', external_id: 'ana' })
  await w.drain()
  expect(await inside(w)).toMatchObject([{ user_id: await userIdOf(w, 'ana') }])
  expect(await counts(w, 'entered', 'refused')).toEqual({ entered: 1, refused: 1 })
})

test('of two entrances of merged users the earlier one stays, and the other exits', async () => {
  await using w = await world()
  await live(w)
  await send(w, { name: 'cart', anonymous_id: 'browser' })
  await w.drain()
  w.advance('10 minutes')
  await send(w, { name: 'cart', external_id: 'ana' })
  await w.drain()
  const before = await inside(w)
  expect(before).toHaveLength(2)
  w.advance('1 minute')
  await send(w, { name: 'login', external_id: 'ana', anonymous_id: 'browser' })
  await w.drain()
  const ana = await userIdOf(w, 'ana')
  expect(await inside(w)).toMatchObject([{ user_id: ana, entrance_id: before[0]?.entrance_id }])
  expect(await past(w)).toMatchObject([{ reason: 'merged', outcome: 'exited' }])
  const known = await select(w, 'select entered, exited, active from journey_users where project_id = $1', [w.projectId])
  expect(known).toEqual([{ entered: 2, exited: 1, active: 1 }])
  w.advance('49 minutes')
  await w.drain()
  expect(await inside(w)).toEqual([])
  expect(await counts(w, 'entered', 'completed', 'exited')).toEqual({ entered: 2, completed: 1, exited: 1 })
})

test('while all journeys are archived, a merge still moves what users did in them: a user who had one does not enter it again', async () => {
  await using w = await world()
  await w.users('ana')
  const journey = await live(w, { ...steps, start: { ...start, data: { ...start.data, multiple: false } } })
  await send(w, { name: 'cart', anonymous_id: 'browser' })
  await w.drain()
  w.advance('1 hour')
  await w.drain()
  expect((await w.delete(journey.path)).status).toBe(204)
  await w.post('/api/client/users/batch', [{ external_id: 'ana', anonymous_id: 'browser' }])
  await w.drain()
  const ana = await userIdOf(w, 'ana')
  const known = await select(w, 'select user_id::int, entered, completed from journey_users where project_id = $1', [w.projectId])
  expect(known).toEqual([{ user_id: ana, entered: 1, completed: 1 }])
  expect(await past(w)).toMatchObject([{ user_id: ana, outcome: 'completed' }])
  await journey.post('unarchive')
  await w.patch(journey.path, { status: 'live' })
  await send(w, { name: 'cart', external_id: 'ana' })
  await w.drain()
  expect(await inside(w)).toEqual([])
  expect(await counts(w, 'refused')).toEqual({ refused: 1 })
})

test('an erased user leaves nothing but numbers', async () => {
  await using w = await world()
  await w.users('ana', 'lee')
  await live(w)
  await send(w, { name: 'cart', external_id: 'ana' }, { name: 'cart', external_id: 'lee' })
  await w.drain()
  expect((await w.delete('/api/client/users/ana')).status).toBeLessThan(300)
  await w.drain()
  const lee = await userIdOf(w, 'lee')
  for (const table of ['journey_entrances', 'journey_timers', 'journey_users'])
    expect(await select(w, `select user_id::int from ${table} where project_id = $1`, [w.projectId]), table).toEqual([{ user_id: lee }])
  expect(await counts(w, 'entered', 'exited')).toEqual({ entered: 2, exited: 1 })
})

test('a clock that is set back fires no timer twice, and instants of a user do not decrease', async () => {
  await using w = await world()
  await w.users('ana')
  await live(w, {
    ...steps,
    wait: { ...steps.wait, children: to('again') },
    again: { type: 'delay', ...at, data: { hours: 2 }, children: to('end') },
  })
  await send(w, { name: 'cart', external_id: 'ana' })
  await w.drain()
  w.advance('1 hour')
  await w.drain()
  const [first] = await inside(w)
  w.clock.set(new Date(w.clock.now().getTime() - 240_000))
  await send(w, { name: 'cart', external_id: 'ana' })
  await w.drain()
  const [second] = await inside(w)
  expect(second).toEqual(first)
  w.advance('4 minutes')
  w.advance('2 hours')
  await w.drain()
  expect(await past(w)).toMatchObject([{ outcome: 'completed' }])
})

test('a time of day that came in a future that did not come does not keep a loop from its next one', async () => {
  await using w = await world()
  await w.users('ana')
  await live(w, {
    start,
    wait: { ...steps.wait, data: { format: 'time', time: '12:00' }, children: to('tick') },
    tick: { type: 'event', ...at, data: { event_name: 'tick' }, children: to('wait') },
  })
  await send(w, { name: 'cart', external_id: 'ana' })
  await w.drain()
  const before = w.clock.now()
  const noon = (await inside(w))[0]?.due_at
  w.advance('40 days')
  await w.drain()
  w.clock.set(before)
  await w.drain()
  expect(await inside(w)).toMatchObject([{ parked: null, due_at: noon }])
})

test('a call that was asked for in a future that did not come is given up in time', async () => {
  await using w = await world()
  await using receiver = await w.receiver()
  await w.users('ana')
  const call = { type: 'webhook', ...at, data: { url: receiver.url }, children: to('end') }
  await live(w, { start: { ...start, children: to('call') }, call, end: steps.end })
  const before = w.clock.now()
  w.advance('40 days')
  await w.drain()
  await send(w, { name: 'cart', external_id: 'ana' })
  await w.drain('ingest.apply')
  w.clock.set(before)
  const withoutCalls = async () => {
    for (const job of ['journeys.check-clock', 'journeys.sweep', 'ingest.apply']) await w.drain(job)
  }
  await withoutCalls()
  w.advance('24 hours')
  w.advance('1 minute')
  await w.drain('journeys.call')
  expect(receiver.requests).toEqual([])
  w.advance('1 hour')
  await withoutCalls()
  expect(await inside(w)).toEqual([])
})

test.each(['before', 'in'])(
  'a call that was asked for %s a future that did not come, and that a process leased there and died, is made soon after',
  async (when) => {
    await using w = await world()
    await using receiver = await w.receiver()
    await w.users('ana')
    const call = { type: 'webhook', ...at, data: { url: receiver.url }, children: to('end') }
    await live(w, { start: { ...start, children: to('call') }, call, end: steps.end })
    const before = w.clock.now()
    const enterAt = async (step: string) => {
      if (step !== when) return
      await send(w, { name: 'cart', external_id: 'ana' })
      await w.drain('ingest.apply')
    }
    await enterAt('before')
    // Before the call is too old to be made.
    w.advance(when === 'before' ? '10 hours' : '40 days')
    await w.drain('journeys.check-clock')
    await enterAt('in')
    await select(
      w,
      `update journey_calls set lease_token = gen_random_uuid(), lease_until = $2, due_at = $2, attempts = 1 where project_id = $1`,
      [w.projectId, new Date(w.clock.now().getTime() + 30_000)],
    )
    w.clock.set(before)
    await w.drain()
    expect(receiver.requests).toEqual([])
    w.advance('31 seconds')
    await w.drain()
    expect(receiver.requests).toHaveLength(1)
    expect(await past(w)).toMatchObject([{ reason: 'exit' }])
  },
)

test.each(['before', 'in'])(
  'users who arrived %s a future in which their message was sent wait for its delivery from now',
  async (when) => {
    await using w = await world()
    await using relay = await openRelay()
    await sendOver(w, relay)
    await w.users('ana')
    const { id: campaign_id } = await answerOrders(w)
    const mail = { type: 'action', ...at, data: { campaign_id, wait: 'delivered', wait_hours: 1 }, children: to('end') }
    await live(w, { start: { ...start, children: to('mail') }, mail, end: steps.end })
    await w.drain()
    const before = w.clock.now()
    const enterAt = async (step: string) => {
      if (step !== when) return
      await send(w, { name: 'cart', external_id: 'ana' })
      await w.drain('ingest.apply')
    }
    await enterAt('before')
    w.advance('2 days')
    await enterAt('in')
    await w.drain()
    expect(relay.mails).toHaveLength(1)
    w.clock.set(before)
    await w.drain()
    expect(await inside(w)).toMatchObject([{ due_at: new Date(before.getTime() + 3_600_000) }])
    w.advance('1 hour')
    await w.drain()
    expect(await past(w)).toMatchObject([{ reason: 'exit' }])
    expect(relay.mails).toHaveLength(1)
  },
)

test('a user who joins a list just before a journey takes its members gets its email once', async () => {
  await using w = await world()
  await using relay = await openRelay()
  await sendOver(w, relay)
  await w.users('ana', 'bob')
  const { id: campaign_id } = await answerOrders(w)
  const list_id = await listOf(w, 'bob')
  await w.drain()
  w.advance('1 day')
  await w.post(`/api/client/lists/${list_id}/users`, { external_ids: ['ana'] })
  w.advance('1 second')
  const data = { trigger: 'list', list_id, existing: true, multiple: true, concurrent: true }
  const mail = { type: 'action', ...at, data: { campaign_id }, children: to('end') }
  await live(w, { start: { ...start, data, children: to('mail') }, mail, end: steps.end })
  await w.drain()
  w.advance('2 minutes')
  await w.drain()
  expect(relay.mails.flatMap(({ to }) => to).toSorted()).toEqual(['ana@example.com', 'bob@example.com'])
})

test('users who acted in a future that did not come act again: waits count from now, and places, calls and schedules too', async () => {
  await using w = await world()
  await w.users('ana')
  const list = (await w.post('/api/client/lists', { name: 'All', type: 'static' })).body.id
  await w.post(`/api/client/lists/${list}/users`, { external_ids: ['ana'] })
  const daily = { trigger: 'schedule', list_id: list, schedule: 'FREQ=DAILY;BYHOUR=9;BYMINUTE=0', multiple: true, concurrent: true }
  await live(w, {
    ...steps,
    wait: { ...steps.wait, children: to('rate') },
    rate: { type: 'balancer', ...at, data: { rate_limit: 1, rate_interval: 'hour' }, children: to('again') },
    again: { type: 'delay', ...at, data: { hours: 2 }, children: to('end') },
  })
  await live(w, { daily: { ...start, data: daily, children: to('end') }, end: steps.end })
  await send(w, { name: 'cart', external_id: 'ana' })
  await w.drain()
  const before = w.clock.now()
  w.advance('40 days')
  await w.drain()
  expect(await past(w)).toHaveLength(1)
  w.clock.set(before)
  await w.drain()
  expect(await inside(w)).toMatchObject([{ due_at: new Date(before.getTime() + 7_200_000), acted_at: before }])
  w.advance('1 day')
  await w.drain()
  expect((await past(w)).map(({ reason }) => reason)).toEqual(['exit', 'exit', 'exit'])
})

test('users who entered or were held out in a future that did not come may enter again, and reach goals', async () => {
  await using w = await world()
  await w.users('ana', 'lee')
  const goals = [{ name: 'bought', event_name: 'purchase', within_days: 14 }]
  const again = { ...steps, start: { ...start, data: { ...start.data, reenter_after: '7d' } } }
  const journeys = [await createJourney(w, {}, again), await createJourney(w, {}, again)] as const
  expect((await w.patch(journeys[0].path, { settings: { goals } })).status).toBe(200)
  expect((await w.patch(journeys[1].path, { settings: { goals, holdout_percent: 100 } })).status).toBe(200)
  for (const { post } of journeys) expect((await post('publish')).status).toBe(200)
  await w.drain()
  const before = w.clock.now()
  w.advance('40 days')
  await send(w, { name: 'cart', external_id: 'ana' })
  await w.drain()
  w.advance('2 hours')
  await send(w, { name: 'cart', external_id: 'lee' })
  await w.drain()
  // Ana has left by then, and Lee is inside.
  expect([await past(w), await inside(w)]).toMatchObject([[{ user_id: await userIdOf(w, 'ana') }], [{ user_id: await userIdOf(w, 'lee') }]])
  w.clock.set(before)
  await w.drain()
  w.advance('1 day')
  await send(w, ...['ana', 'lee'].map((external_id) => ({ name: 'purchase', external_id })))
  await w.drain()
  expect(await counts(w, 'goal')).toEqual({ goal: 4 })
  w.advance('6 days')
  await send(w, ...['ana', 'lee'].map((external_id) => ({ name: 'cart', external_id })))
  await w.drain()
  expect(await counts(w, 'entered', 'refused')).toEqual({ entered: 4 })
})

test('a goal that was reached in a future that did not come counts again for the next entry, and entries there are not those of today', async () => {
  await using w = await world()
  await w.users('ana')
  const journey = await createJourney(w, {}, steps)
  const settings = { goals: [{ name: 'bought', event_name: 'purchase', within_days: 60 }], max_entries_per_day: 1 }
  expect((await w.patch(journey.path, { settings })).status).toBe(200)
  expect((await journey.post('publish')).status).toBe(200)
  const enterAndBuy = async () => {
    await send(w, { name: 'cart', external_id: 'ana' })
    await w.drain()
    w.advance('2 hours')
    await send(w, { name: 'purchase', external_id: 'ana' })
    await w.drain()
  }
  const before = w.clock.now()
  w.advance('40 days')
  await enterAndBuy()
  w.clock.set(before)
  await w.drain()
  w.advance('1 day')
  await enterAndBuy()
  expect(await counts(w, 'entered', 'goal', 'refused')).toEqual({ entered: 2, goal: 2 })
  await send(w, { name: 'cart', external_id: 'ana' })
  await w.drain()
  expect(await counts(w, 'entered', 'refused')).toEqual({ entered: 2, refused: 1 })
})

test('after a long outage steps do not follow each other at once', async () => {
  await using w = await world()
  await w.users('ana')
  await live(w, {
    ...steps,
    wait: { ...steps.wait, children: to('again') },
    again: { type: 'delay', ...at, data: { hours: 2 }, children: to('end') },
  })
  await send(w, { name: 'cart', external_id: 'ana' })
  await w.drain()
  w.advance('10 hours')
  await w.drain()
  expect(await inside(w)).toMatchObject([{ due_at: new Date(w.clock.now().getTime() + 7_200_000) }])
})

test('a short outage stretches nothing', async () => {
  await using w = await world()
  await w.users('ana')
  const began = w.clock.now().getTime()
  await live(w, {
    ...steps,
    wait: { ...steps.wait, children: to('again') },
    again: { type: 'delay', ...at, data: { hours: 2 }, children: to('end') },
  })
  await send(w, { name: 'cart', external_id: 'ana' })
  await w.drain()
  w.advance('1 hour')
  w.advance('10 minutes')
  await w.drain()
  expect(await inside(w)).toMatchObject([{ due_at: new Date(began + 3 * 3_600_000) }])
})

test('timers of a held journey rest, and go on when it is resumed', async () => {
  await using w = await world()
  await w.users('ana')
  const journey = await live(w)
  await send(w, { name: 'cart', external_id: 'ana' })
  await w.drain()
  expect((await journey.post('hold')).status).toBe(200)
  w.advance('2 hours')
  await w.drain()
  expect(await inside(w)).toHaveLength(1)
  expect((await journey.post('resume')).status).toBe(200)
  await w.drain()
  expect(await inside(w)).toEqual([])
})

test('a call that was held for longer than an answer may take is answered', async () => {
  await using w = await world()
  await using receiver = await w.receiver()
  await w.users('ana')
  const journey = await live(w, {
    start: { ...start, children: to('call') },
    call: {
      type: 'webhook',
      ...at,
      data: { url: receiver.url },
      children: [
        { path: 'success', external_id: 'end' },
        { path: 'failed', external_id: 'bad' },
      ],
    },
    end: steps.end,
    bad: { type: 'exit', ...at, data: { reason: 'failed' } },
  })
  await journey.post('hold')
  await send(w, { name: 'cart', external_id: 'ana' })
  await w.drain()
  w.advance('26 hours')
  await journey.post('resume')
  await w.drain()
  expect(receiver.requests).toHaveLength(1)
  expect(await past(w)).toMatchObject([{ reason: 'exit' }])
})

test('while a journey is held, an event ends the wait for it, but no timeout and no delay ends because of something else', async () => {
  await using w = await world()
  await w.users('ana', 'lee', 'kim')
  await w.post('/api/client/users/batch', [{ external_id: 'kim', data: { renews_at: '2030-01-01' } }])
  const condition = { path: 'bought', event_name: 'purchase', where: [{ attribute: 'data.total', greater_than: 10 }] }
  const journey = await live(w, {
    start: { ...start, children: to('until') },
    until: {
      type: 'wait_until',
      ...at,
      data: { conditions: [condition], timeout: '1h' },
      children: [
        { path: 'bought', external_id: 'end' },
        { path: 'timeout', external_id: 'late' },
      ],
    },
    date: { ...start, data: { trigger: 'event', event_name: 'plan' }, children: to('renewal') },
    renewal: { type: 'delay', ...at, data: { format: 'date', date: '{{ user.data.renews_at }}' }, children: to('late') },
    end: { type: 'exit', ...at, data: { reason: 'bought' } },
    late: { type: 'exit', ...at, data: { reason: 'late' } },
  })
  await send(w, { name: 'cart', external_id: 'ana' }, { name: 'cart', external_id: 'lee' }, { name: 'plan', external_id: 'kim' })
  await w.drain()
  expect(await inside(w)).toHaveLength(3)
  await journey.post('hold')
  w.advance('2 hours')
  await send(w, { name: 'purchase', external_id: 'ana', data: { total: 1 } }, { name: 'purchase', external_id: 'lee', data: { total: 50 } })
  await w.post('/api/client/users/batch', [{ external_id: 'kim', data: { renews_at: '2020-01-01' } }])
  await w.drain()
  expect((await past(w)).map(({ reason }) => reason)).toEqual(['bought'])
  await journey.post('resume')
  await w.drain()
  expect((await past(w)).map(({ reason }) => reason).sort()).toEqual(['bought', 'late', 'late'])
})

test.each([{ 'data.order.state': 'paid' }, { 'data.order\\.state': 'paid' }])(
  'a wait sees each update of an attribute by its path, also when the next one came with it: %j',
  async (update) => {
    await using w = await world()
    await w.users('ana')
    const [attribute] = Object.keys(update)
    await live(w, {
      start: { ...start, children: to('until') },
      until: {
        type: 'wait_until',
        ...at,
        data: { conditions: [{ path: 'paid', rule: { attribute, is: 'paid' } }], timeout: '1h' },
        children: [
          { path: 'paid', external_id: 'end' },
          { path: 'timeout', external_id: 'late' },
        ],
      },
      end: { type: 'exit', ...at, data: { reason: 'paid' } },
      late: { type: 'exit', ...at, data: { reason: 'late' } },
    })
    await send(w, { name: 'cart', external_id: 'ana' })
    await w.drain()
    const shipped = { external_id: 'ana', [attribute as string]: 'shipped' }
    expect((await w.patch('/api/client/users', [{ external_id: 'ana', ...update }, shipped])).status).toBe(204)
    await w.drain()
    expect(await past(w)).toMatchObject([{ reason: 'paid' }])
  },
)

test('what a later wait has counted stays with its condition when a new version has the conditions in another order', async () => {
  await using w = await world()
  await w.users('ana')
  const graph = (...names: string[]) => ({
    ...steps,
    wait: { ...steps.wait, children: to('until') },
    until: {
      type: 'wait_until',
      ...at,
      data: { conditions: names.map((name) => ({ path: name, event_name: name })), timeout: '3d' },
      children: [...names, 'timeout'].map((name) => ({ path: name, external_id: name })),
    },
    ...Object.fromEntries([...names, 'timeout'].map((name) => [name, { type: 'exit', ...at, data: { reason: name } }])),
    end: undefined,
  })
  const journey = await live(w, graph('purchase'))
  await send(w, { name: 'cart', external_id: 'ana' })
  await w.drain()
  await send(w, { name: 'purchase', external_id: 'ana' })
  await w.drain()
  expect((await journey.put(graph('cancelled', 'purchase'))).status).toBe(200)
  expect((await journey.post('publish', { plan: { default: 'move' } })).status).toBe(200)
  await w.drain()
  w.advance('1 hour')
  await w.drain()
  expect(await past(w)).toMatchObject([{ reason: 'purchase' }])
})

test('users are removed by hand, moved, and let through', async () => {
  await using w = await world()
  await w.users('ana', 'lee', 'kim')
  const journey = await live(w)
  await send(w, ...['ana', 'lee', 'kim'].map((external_id) => ({ name: 'cart', external_id })))
  await w.drain()
  expect((await journey.post('users/ana/skip')).status).toBe(202)
  expect((await journey.post('users/lee/move', { to: 'end' })).status).toBe(202)
  expect((await w.delete(`${journey.path}/users/kim`)).status).toBe(202)
  await w.drain()
  expect((await past(w)).map(({ reason }) => reason).sort()).toEqual(['exit', 'exit', 'removed'])
  expect(await counts(w, 'entered', 'completed', 'exited')).toEqual({ entered: 3, completed: 2, exited: 1 })
})

test('users of an import start a journey only if its entrance says so', async () => {
  await using w = await world()
  const list = (await w.post('/api/client/lists', { name: 'All', type: 'static' })).body.id
  const graph = (data: object) => ({
    start: { ...start, data: { trigger: 'event', event_name: 'user_created', ...data }, children: to('end') },
    end: steps.end,
  })
  await live(w, graph({}))
  await live(w, graph({ imports: true }))
  const imported = await w.post(`/api/client/lists/${list}/import`, undefined, {
    raw: 'external_id\nana\n',
    headers: { 'content-type': 'text/csv' },
  })
  expect(imported.status, imported.text).toBeLessThan(300)
  await w.drain()
  expect(await past(w)).toHaveLength(1)
  expect((await w.post('/api/client/users/batch?import=true', [{ external_id: 'kim' }])).body).toMatchObject({ succeeded: 1 })
  await w.drain()
  expect(await past(w)).toHaveLength(2)
  await w.users('lee')
  await w.drain()
  expect(await past(w)).toHaveLength(4)
})

test('a request that is repeated with its key makes the user enter once, also after the entrance ended', async () => {
  await using w = await world()
  await w.users('ana')
  const journey = await live(w, {
    api: { type: 'entrance', ...at, data: { trigger: 'api', multiple: true }, children: to('end') },
    end: steps.end,
  })
  for (const key of ['one', 'one', 'two']) {
    expect((await journey.post('entrances', { external_id: 'ana', key })).status).toBe(202)
    await w.drain()
  }
  expect(await past(w)).toHaveLength(2)
})

const quiet = {
  type: 'exit',
  ...at,
  data: { as: 'exited', reason: 'quiet', when: [{ rule: { all: [{ event: 'login', within: '2d', exactly: 0 }] } }] },
}

test('a rule that comes true because time passes ends the journey then, without an item of the user', async () => {
  await using w = await world()
  await w.users('ana')
  await live(w, { ...steps, wait: { ...steps.wait, data: { days: 10 } }, quiet })
  await send(w, { name: 'login', external_id: 'ana' })
  await w.drain()
  w.advance('1 hour')
  await send(w, { name: 'cart', external_id: 'ana' })
  await w.drain()
  const entered = w.clock.now()
  expect(await inside(w)).toMatchObject([{ due_at: new Date(entered.getTime() + 47 * 3_600_000) }])
  const shown = (await w.get(`/api/client/journeys`)).body.results[0]
  expect((await w.get(`/api/client/journeys/${shown.id}/users`)).body.results).toMatchObject([
    { due_at: new Date(entered.getTime() + 240 * 3_600_000).toISOString() },
  ])
  w.advance('47 hours')
  await w.drain()
  expect(await past(w)).toMatchObject([{ reason: 'quiet', ended_at: w.clock.now() }])
})

test('the instant at which a rule may come true does not end a wait', async () => {
  await using w = await world()
  await using receiver = await w.receiver()
  await w.users('ana')
  const rule = {
    all: [
      { event: 'login', within: '2h', exactly: 0 },
      { attribute: 'data.plan', is: 'pro' },
    ],
  }
  const never = { type: 'exit', ...at, data: { reason: 'never', when: [{ rule }] } }
  await live(w, {
    start: { ...start, children: to('call') },
    call: {
      type: 'webhook',
      ...at,
      data: { url: receiver.url, retries: 6 },
      children: [...to('end').map((child) => ({ ...child, path: 'failed' })), ...to('wait')],
    },
    wait: { ...steps.wait, data: { days: 1 } },
    end: steps.end,
    never,
  })
  receiver.answer(503)
  await send(w, { name: 'login', external_id: 'ana' })
  await w.drain()
  await send(w, { name: 'cart', external_id: 'ana' })
  await w.drain()
  w.advance('119 minutes')
  w.advance('1 minute')
  await w.drain('ingest.apply')
  const trails = async () =>
    (await select(w, 'select trail from journey_entrances where project_id = $1', [w.projectId])).flatMap(({ trail }) =>
      trailOf(trail as StoredTrail).map(({ step }) => step),
    )
  expect(await trails()).toEqual(['start', 'call'])
  receiver.answer(200)
  await w.drain()
  expect(await trails()).toEqual(['start', 'call', 'wait'])
  w.advance('23 hours')
  await w.drain()
  expect(await inside(w)).toHaveLength(1)
  w.advance('1 hour')
  await w.drain()
  expect(await past(w)).toMatchObject([{ reason: 'exit' }])
})

test('the rule of a new version ends the journey of those who are moved to it', async () => {
  await using w = await world()
  await w.users('ana')
  const journey = await live(w)
  await w.post('/api/client/users/batch', [{ external_id: 'ana', data: { plan: 'pro' } }])
  await send(w, { name: 'cart', external_id: 'ana' })
  await w.drain()
  const bought = { type: 'exit', ...at, data: { reason: 'bought', when: [{ rule: { attribute: 'data.plan', is: 'pro' } }] } }
  expect((await journey.put({ ...steps, bought })).status).toBe(200)
  expect((await journey.post('publish', { plan: { default: 'move' } })).status).toBe(200)
  await w.drain()
  expect(await past(w)).toMatchObject([{ reason: 'bought' }])
})

test('a plan and statistics are right for steps and paths with names that all objects have', async () => {
  await using w = await world()
  await w.users('ana')
  const graph = {
    start: { ...start, children: to('gate') },
    gate: {
      type: 'gate',
      ...at,
      data: { branches: ['constructor', 'other'].map((path) => ({ path, rule: { attribute: 'external_id', is: 'ana' } })) },
      children: [
        { external_id: 'constructor', path: 'constructor' },
        { external_id: 'end', path: 'other' },
        { external_id: 'end', path: 'else' },
      ],
    },
    constructor: steps.wait,
    end: steps.end,
  }
  const journey = await live(w, graph)
  await send(w, { name: 'cart', external_id: 'ana' })
  await w.drain()
  expect((await journey.get('stats')).steps.gate.paths).toEqual(JSON.parse('{"constructor": 1}'))
  expect((await journey.put({ ...graph, end: { ...steps.end, data: { reason: 'changed' } } })).status).toBe(200)
  expect((await journey.post('publish', { plan: { default: 'exit' } })).body).toMatchObject({ moving: 1 })
  await w.drain()
  expect(await past(w)).toMatchObject([{ reason: 'published' }])
})

test('a user who is moved or skips a step while a message or a call waits gets neither any more', async () => {
  await using w = await world()
  await w.users('ana', 'lee')
  const { id: subscription_id } = (await w.post('/api/client/subscriptions', { name: 'News', channel: 'email' })).body
  const campaign = { name: 'Hello', type: 'trigger', channel: 'email', event_name: 'never', subscription_id }
  const { id } = (await w.post('/api/client/campaigns', campaign)).body
  await w.put(`/api/client/campaigns/${id}/templates/en`, { subject: 'Hello', from: 'a@example.com', html: '<p>Hi</p>' })
  await w.patch(`/api/client/campaigns/${id}`, { state: 'running' })
  await w.post(`/api/client/campaigns/${id}/pause`)
  const journey = await live(w, {
    start: { ...start, children: to('send') },
    send: { type: 'action', ...at, data: { campaign_id: id }, children: to('call') },
    call: { type: 'webhook', ...at, data: { url: 'https://example.com/hook' }, children: to('wait') },
    wait: steps.wait,
    end: steps.end,
  })
  await send(w, { name: 'cart', external_id: 'ana' }, { name: 'cart', external_id: 'lee' })
  await w.drain()
  expect((await journey.post('users/ana/move', { to: 'wait' })).status).toBe(202)
  expect((await journey.post('users/lee/skip')).status).toBe(202)
  await w.drain('ingest.apply')
  expect(await select(w, 'select state, reason from messages where project_id = $1', [w.projectId])).toEqual([
    { state: 'aborted', reason: 'journey_left' },
    { state: 'aborted', reason: 'journey_left' },
  ])
  const calls = () => select(w, 'select user_id from journey_calls where project_id = $1', [w.projectId])
  expect(await calls()).toHaveLength(1)
  expect((await w.delete(`${journey.path}/users/ana`)).status).toBe(202)
  expect((await journey.post('users/lee/skip')).status).toBe(202)
  await w.drain('ingest.apply')
  expect(await calls()).toEqual([])
  expect(await inside(w)).toHaveLength(1)
})
