/** What journeys do when users are merged or erased, clocks are set, and journeys are held or stopped. */
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { sql } from '../../src/infra/postgres/db.ts'
import { createJourney, userIdOf } from '../journeys.ts'
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
  w.clock.set(new Date(w.clock.now().getTime() - 1_800_000))
  await send(w, { name: 'other', external_id: 'ana' })
  await w.drain()
  const [second] = await inside(w)
  expect(second).toEqual(first)
  w.advance('30 minutes')
  w.advance('2 hours')
  await w.drain()
  expect(await past(w)).toMatchObject([{ outcome: 'completed' }])
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
  await w.users('lee')
  await w.drain()
  expect(await past(w)).toHaveLength(3)
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
