import { expect, test } from 'vitest'
import { createJourney, dropQueue, listOf, nextAt, putInside, queuedItems, READY, readyWith, scheduled } from '../../../../test/journeys.ts'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'
import { sql } from '../../../infra/postgres/db.ts'
import { inTx } from '../../../infra/runtime/ctx.ts'
import { DAY_MS } from '../../../lib/times.ts'
import { publishedGraphs } from '../live/graphs.ts'
import { claimSweep, saveSweep } from './queries.ts'
import { sweepDue } from './sweep.ts'

/** The users inside a journey, with their versions. */
const versionsInside = async (w: World, { id }: { id: number }) =>
  (
    await select(
      w,
      `select u.external_id || ' ' || e.version as place from journey_entrances e
       join users u on u.project_id = e.project_id and u.id = e.user_id where e.journey_id = $1 order by 1`,
      [id],
    )
  ).map(({ place }) => place)

test('the users of a list enter on schedule, each once for an occurrence', async () => {
  await using w = await world()
  await w.users('ana', 'bob')
  const list = await listOf(w, 'ana', 'bob')
  const journey = await createJourney(w, { status: 'live' }, scheduled(list))
  await w.drain('journeys.sweep')
  expect(await queuedItems(w)).toEqual([])
  const [first] = await nextAt(w, journey)
  w.clock.advance(new Date(first as string).getTime() - w.clock.now().getTime())
  await w.drain()
  const { results } = await journey.get('users')
  expect(results.map(({ user }: any) => user.external_id).sort()).toEqual(['ana', 'bob'])
  await w.drain()
  expect((await journey.get('stats')).entered).toBe(2)
  w.advance('1 day')
  await w.drain()
  expect((await journey.get('stats')).entered).toBe(4)
})

test('in the zone of users, each enters at their own instant', async () => {
  await using w = await world()
  await w.post('/api/client/users/batch', [
    { external_id: 'syd', timezone: 'Australia/Sydney' },
    { external_id: 'lon', timezone: 'Europe/London' },
    { external_id: 'none' },
  ])
  const list = await listOf(w, 'syd', 'lon', 'none')
  await createJourney(w, { status: 'live' }, scheduled(list, 'user'))
  const entered: Record<string, string> = {}
  for (let hour = 0; hour < 48 && Object.keys(entered).length < 3; hour++) {
    w.advance('30 minutes')
    await w.drain('journeys.sweep')
    for (const item of await queuedItems(w)) {
      const [row] = await select(w, 'select external_id from users where id = $1', [item.user_id])
      entered[row?.external_id as string] ??= (item as { cause: string }).cause
    }
    await dropQueue(w)
  }
  const locals = Object.fromEntries(Object.entries(entered).map(([name, cause]) => [name, cause.slice(-5)]))
  expect(locals).toEqual({ syd: '09:00', lon: '09:00', none: '09:00' })
})

test('in the zone of users, one whose zone is written by another of its names enters too', async () => {
  await using w = await world()
  await w.post('/api/client/users/batch', [
    { external_id: 'kol', timezone: 'Asia/Kolkata' },
    { external_id: 'syd', timezone: 'Australia/Sydney' },
  ])
  await createJourney(w, { status: 'live' }, scheduled(await listOf(w, 'kol', 'syd'), 'user'))
  w.clock.set(new Date('2026-11-24T03:30:00Z'))
  await w.drain('journeys.sweep')
  expect(await queuedItems(w)).toHaveLength(2)
})

test('in the zone of users, one whose stored zone is none enters in the project’s, and keeps no other waiting', async () => {
  await using w = await world()
  await w.post('/api/client/users/batch', [{ external_id: 'old' }, { external_id: 'ber', timezone: 'Europe/Berlin' }])
  const list = await listOf(w, 'old', 'ber')
  await w.db.run(sql`update users set timezone = 'IST' where project_id = ${w.projectId} and external_id = 'old'`)
  await createJourney(w, { status: 'live' }, scheduled(list, 'user'))
  for (let hour = 0; hour < 25; hour++) {
    w.advance('1 hour')
    await w.drain('journeys.sweep')
  }
  const users = await select(w, 'select id, external_id from users where project_id = $1', [w.projectId])
  const names = (await queuedItems(w)).map(({ user_id }) => users.find(({ id }) => id === user_id)?.external_id)
  expect(names.sort()).toEqual(['ber', 'old'])
})

test('an archived journey is not read any more when its users have left', async () => {
  await using w = await world()
  await w.users('ana')
  const journey = await createJourney(w, { status: 'live' }, READY)
  await putInside(w, journey, { user: 'ana' })
  expect((await w.delete(journey.path)).status).toBe(204)
  expect(await publishedGraphs(w.ctx)).not.toBeNull()
  await w.drain()
  expect(await publishedGraphs(w.ctx)).toBeNull()
})

test('a journey that is restored has lost its users, also if it is switched on at once, and its schedule goes on', async () => {
  await using w = await world()
  await w.users('ana', 'bob')
  const list = await listOf(w, 'ana', 'bob')
  const journey = await createJourney(w, { status: 'live' }, scheduled(list))
  await putInside(w, journey, { user: 'ana' })
  await w.delete(journey.path)
  expect((await w.post(`${journey.path}/unarchive`)).body.status).toBe('off')
  await w.patch(journey.path, { status: 'live' })
  await w.drain()
  expect(await select(w, 'select user_id from journey_entrances where journey_id = $1', [journey.id])).toEqual([])
  const [next] = await nextAt(w, journey)
  w.clock.advance(new Date(next as string).getTime() - w.clock.now().getTime())
  await w.drain()
  expect((await journey.get('stats')).entered).toBe(2)
})

test('when the time zone of the project changes, its schedules come by the new one, and no local time twice', async () => {
  await using w = await world()
  await w.users('ana')
  const zone = (timezone: string) => w.patch(`/api/client/projects/${w.projectId}`, { timezone }, { key: w.keys.organisation })
  await zone('UTC')
  w.clock.set(new Date('2026-11-23T15:00:00Z'))
  const journey = await createJourney(w, { status: 'live' }, scheduled(await listOf(w, 'ana')))
  const enteredAt = async (at: string) => {
    w.clock.set(new Date(at))
    await w.drain()
    return (await journey.get('stats')).entered
  }
  // Nine o’clock comes eleven hours earlier than before.
  expect((await zone('Australia/Sydney')).status).toBe(200)
  expect(await enteredAt('2026-11-23T22:00:00Z')).toBe(1)
  expect(await enteredAt('2026-11-24T08:00:00Z')).toBe(1)
  // Here it comes again on the same day.
  await zone('UTC')
  expect(await enteredAt('2026-11-24T09:00:00Z')).toBe(1)
  // It is nine o’clock: who enters now still does so by the zone before.
  w.clock.set(new Date('2026-11-25T09:00:00Z'))
  await zone('Australia/Sydney')
  expect(await enteredAt('2026-11-25T09:00:10Z')).toBe(2)
  expect(await nextAt(w, journey)).toEqual(['2026-11-25T22:00:00.000Z'])
})

test('after an outage the latest occurrence runs once, and the others are counted as missed', async () => {
  await using w = await world()
  await w.users('ana')
  const journey = await createJourney(w, { status: 'live' }, scheduled(await listOf(w, 'ana')))
  w.advance('4 days')
  await w.drain('journeys.sweep')
  expect(await queuedItems(w)).toHaveLength(1)
  expect((await journey.get('stats')).refused).toEqual({ missed: 3 })
})

test('a journey that is off enters no one on schedule, and goes on when it is switched on', async () => {
  await using w = await world()
  await w.users('ana')
  const journey = await createJourney(w, { status: 'live' }, scheduled(await listOf(w, 'ana')))
  await w.patch(journey.path, { status: 'off' })
  w.advance('1 day')
  await w.drain('journeys.sweep')
  expect(await queuedItems(w)).toEqual([])
  await w.patch(journey.path, { status: 'live' })
  w.advance('1 day')
  await w.drain('journeys.sweep')
  expect(await queuedItems(w)).toHaveLength(1)
})

test('a publication keeps a schedule that did not change, and ends one that is gone', async () => {
  await using w = await world()
  await w.users('ana')
  const list = await listOf(w, 'ana')
  const twoDays = 'FREQ=DAILY;INTERVAL=2;BYHOUR=9;BYMINUTE=0'
  const journey = await createJourney(w, { status: 'live' }, scheduled(list, 'project', twoDays))
  const before = await nextAt(w, journey)
  w.advance('5 hours')
  await journey.put({ ...scheduled(list, 'project', twoDays), w1: { ...READY.w1, name: 'Other' } })
  await journey.post('publish')
  expect(await nextAt(w, journey)).toEqual(before)
  await journey.put(READY)
  await journey.post('publish')
  expect(await nextAt(w, journey)).toEqual([])
})

test('the members that a list already has enter at the publication, once', async () => {
  await using w = await world()
  await w.users('ana', 'bob')
  const list_id = await listOf(w, 'ana', 'bob')
  const steps = { ...READY, start: { ...READY.start, data: { trigger: 'list', list_id, existing: true } } }
  const journey = await createJourney(w, { status: 'live' }, steps)
  await w.drain()
  expect((await journey.get('users')).results).toHaveLength(2)
  await journey.put({ ...steps, w1: { ...READY.w1, name: 'Other' } })
  await journey.post('publish')
  await w.drain('journeys.sweep')
  expect(await queuedItems(w)).toEqual([])
})

test('a user who joins the list while its members enter does so once', async () => {
  await using w = await world()
  await w.users('ana', 'bob')
  const list_id = await listOf(w, 'ana')
  const data = { trigger: 'list', list_id, existing: true, multiple: true, concurrent: true }
  const journey = await createJourney(w, { status: 'live' }, { ...READY, start: { ...READY.start, data } })
  w.advance('30 seconds')
  await w.post(`/api/client/lists/${list_id}/users`, { external_ids: ['bob'] })
  await w.drain()
  expect((await journey.get('users')).results.map(({ user }: any) => user.external_id).sort()).toEqual(['ana', 'bob'])
})

test('a user who joined the list just before the publication, and whose joining still waits, enters once', async () => {
  await using w = await world()
  await w.users('ana')
  const list_id = await listOf(w)
  await w.drain()
  await w.post(`/api/client/lists/${list_id}/users`, { external_ids: ['ana'] })
  w.advance('1 second')
  const data = { trigger: 'list', list_id, existing: true, multiple: true, concurrent: true }
  const journey = await createJourney(w, { status: 'live' }, { ...READY, start: { ...READY.start, data } })
  await w.drain()
  expect((await journey.get('stats')).entered).toBe(1)
})

test('a member whom a batch adds behind the sweep of the members enters a minute later, and no other enters twice', async () => {
  await using w = await world()
  await w.users('ana', 'bob')
  const list_id = await listOf(w, 'ana')
  w.advance('30 minutes')
  const data = { trigger: 'list', list_id, existing: true, multiple: true, concurrent: true }
  const journey = await createJourney(w, { status: 'live' }, { ...READY, start: { ...READY.start, data } })
  await w.drain('journeys.sweep')
  w.advance('10 seconds')
  // As a batch does that read before the publication which journeys are live.
  await select(
    w,
    `insert into list_memberships (project_id, version_id, user_id, is_member, changed_at)
     select u.project_id, l.live_version_id, u.id, true, $2 from lists l join users u using (project_id)
     where project_id = $1 and u.external_id = 'bob'`,
    [w.projectId, w.clock.now()],
  )
  w.advance('2 minutes')
  await w.drain()
  expect((await journey.get('users')).results.map(({ user }: any) => user.external_id).sort()).toEqual(['ana', 'bob'])
  expect(await nextAt(w, journey)).toEqual([])
})

test('the members of a list that is being built, or built by a new rule, enter when it is built', async () => {
  await using w = await world()
  await w.users('ana', 'bob')
  const named = (name: string) => ({ attribute: 'external_id', is: name })
  const { id: list_id } = (await w.post('/api/client/lists', { name: 'Built', type: 'dynamic', rule: named('ana') })).body
  const data = { trigger: 'list', list_id, existing: true, multiple: true, concurrent: true }
  const inside = async ({ get }: Awaited<ReturnType<typeof createJourney>>) =>
    (await get('users')).results.map(({ user }: any) => user.external_id)
  const first = await createJourney(w, { status: 'live' }, { ...READY, start: { ...READY.start, data } })
  await w.drain('journeys.sweep')
  w.advance('1 minute')
  await w.drain('journeys.sweep')
  expect(await queuedItems(w)).toEqual([])
  await w.drain('lists.build')
  w.advance('1 minute')
  await w.drain()
  expect(await inside(first)).toEqual(['ana'])

  await w.patch(`/api/client/lists/${list_id}`, { rule: named('bob') })
  const second = await createJourney(w, { status: 'live' }, { ...READY, start: { ...READY.start, data } })
  await w.drain('journeys.sweep')
  await w.drain('lists.build')
  w.advance('1 minute')
  await w.drain()
  expect(await inside(second)).toEqual(['bob'])
})

test('the members that a list already has enter a journey that is published while it is off when it goes live, once', async () => {
  await using w = await world()
  await w.users('ana')
  const list_id = await listOf(w, 'ana')
  const journey = await createJourney(w, { status: 'live' }, READY)
  await w.patch(journey.path, { status: 'off' })
  await journey.put({ ...READY, start: { ...READY.start, data: { trigger: 'list', list_id, existing: true, multiple: true } } })
  expect((await journey.post('publish')).status).toBe(200)
  await w.drain()
  expect((await journey.get('users')).results).toEqual([])
  for (const status of ['live', 'off', 'live']) {
    await w.patch(journey.path, { status })
    await w.drain()
    w.advance('3 days')
    await w.drain()
  }
  expect((await journey.get('stats')).entered).toBe(1)
})

/** A journey and a version of it in which the members of a list enter, with one member. */
async function withMembers(w: World) {
  await w.users('ana')
  const list_id = await listOf(w, 'ana')
  const journey = await createJourney(w, { status: 'live' }, READY)
  await journey.put({ ...READY, start: { ...READY.start, data: { trigger: 'list', list_id, existing: true, multiple: true } } })
  const publish = async () => expect((await journey.post('publish')).status).toBe(200)
  const goLive = async () => expect((await w.patch(journey.path, { status: 'live' })).status).toBe(200)
  const entered = async () => (await journey.get('stats')).entered
  return { journey, publish, goLive, entered }
}

test.each(['stop', 'drain'])('the members that have not entered a live journey by a %s do not when it is live again', async (how) => {
  await using w = await world()
  const { journey, publish, goLive, entered } = await withMembers(w)
  await publish()
  expect((await journey.post(how)).status).toBe(202)
  await w.drain()
  w.advance('20 days')
  await w.drain()
  await goLive()
  await w.drain()
  expect(await entered()).toBe(0)
})

test('the members that wait for a journey enter when it is live after it was archived and restored', async () => {
  await using w = await world()
  const { journey, publish, goLive, entered } = await withMembers(w)
  await w.patch(journey.path, { status: 'off' })
  await publish()
  expect((await w.delete(journey.path)).status).toBe(204)
  await w.drain()
  w.advance('3 days')
  await w.drain()
  expect((await w.post(`${journey.path}/unarchive`)).status).toBe(200)
  await w.drain()
  await goLive()
  await w.drain()
  expect(await entered()).toBe(1)
})

test('the members that wait for a journey enter at once, also if a process has just seen that it is off', async () => {
  await using w = await world()
  const { journey, publish, goLive, entered } = await withMembers(w)
  await w.patch(journey.path, { status: 'off' })
  await publish()
  const [{ id }] = (await select(w, 'select id::int from journey_sweeps where journey_id = $1', [journey.id])) as [{ id: number }]
  const [seen, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const sweeping = inTx(w.ctx, async (ctx) => {
    expect(await claimSweep(ctx, id)).toBeDefined()
    await saveSweep(ctx, id, null, new Date(w.clock.now().getTime() + DAY_MS))
    seen.resolve()
    await release.promise
  })
  await seen.promise
  const going = goLive()
  await Promise.race([going, statementWaits(w)])
  release.resolve()
  await Promise.all([sweeping, going])
  await w.drain()
  expect(await entered()).toBe(1)
})

/** Resolves when a statement waits for a lock. */
async function statementWaits(w: World): Promise<void> {
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  while ((await select(w, waiting)).length === 0);
}

test('many users are swept 1,000 at a time, and none twice after a crash', async () => {
  await using w = await world()
  const journey = await createJourney(w, { status: 'live' }, READY)
  await w.users('ana')
  await putInside(w, journey, { user: 'ana' })
  await select(
    w,
    `insert into journey_entrances (project_id, user_id, entrance_id, journey_id, step_id, version, visit, depth, entered_at, arrived_at, acted_at, slot, cause)
     select project_id, user_id + g, entrance_id, journey_id, step_id, version, visit, depth, entered_at, arrived_at, acted_at, slot, cause
     from journey_entrances, generate_series(1000000, 1002499) g where project_id = $1`,
    [w.projectId],
  )
  await journey.post('stop')
  await w.drain('journeys.sweep')
  const items = await queuedItems(w)
  expect(items).toHaveLength(2501)
  expect(new Set(items.map(({ user_id }) => user_id)).size).toBe(2501)
  const sizes = await select(w, `select items from queue_entries where project_id = $1 and kind = 'journeys' order by position`, [
    w.projectId,
  ])
  expect(sizes.map(({ items }) => items)).toEqual([1000, 1000, 501])
  // Then it looks once more.
  expect(await nextAt(w, journey)).toEqual([new Date(w.clock.now().getTime() + 60_000).toISOString()])
})

test('sweeps rest while many items wait', async () => {
  await using w = await world()
  await w.users('ana')
  const journey = await createJourney(w, { status: 'live' }, READY)
  await putInside(w, journey, { user: 'ana' })
  await select(
    w,
    `insert into queue_entries (project_id, kind, request_id, received_at, items, body) values ($1, 'events', '', now(), 50001, '[]')`,
    [w.projectId],
  )
  await journey.post('stop')
  await w.drain('journeys.sweep')
  expect(await queuedItems(w)).toEqual([])
  await dropQueue(w)
  w.advance('1 second')
  await w.drain('journeys.sweep')
  expect(await queuedItems(w)).toHaveLength(1)
})

test.each(['stopped', 'archived'])('a user who entered behind the sweep of a journey that was %s exits a minute later', async (how) => {
  await using w = await world()
  await w.users('ana', 'bob')
  const journey = await createJourney(w, { status: 'live' }, READY)
  await putInside(w, journey, { user: 'bob' })
  await (how === 'stopped' ? journey.post('stop') : w.delete(journey.path))
  await w.drain()
  // The instant of a late item is that at which it is applied.
  w.advance('10 seconds')
  await putInside(w, journey, { user: 'ana' })
  w.advance('50 seconds')
  await w.drain()
  expect(await versionsInside(w, journey)).toEqual([])
  expect(await nextAt(w, journey)).toEqual([])
})

test('a user who enters a journey that was archived a moment ago and is on again stays inside', async () => {
  await using w = await world()
  await w.users('ana', 'bob')
  const journey = await createJourney(w, { status: 'live' }, READY)
  await w.delete(journey.path)
  await w.drain()
  w.advance('10 seconds')
  await putInside(w, journey, { user: 'bob' })
  expect((await w.post(`${journey.path}/unarchive`)).status).toBe(200)
  expect((await w.patch(journey.path, { status: 'live' })).status).toBe(200)
  w.advance('10 seconds')
  await w.post('/api/client/events', [{ name: 'cart', external_id: 'ana' }])
  w.advance('1 minute')
  await w.drain()
  expect((await journey.get('users')).results.map(({ user }: any) => user.external_id)).toEqual(['ana'])
})

test('a user who entered the former version behind the sweep of a publication follows its plan a minute later', async () => {
  await using w = await world()
  await w.users('ana', 'bob', 'kim')
  const steps = (hours: number) => readyWith(hours, { w2: { ...READY.w1, x: 5 }, out: { ...READY.out } })
  const graph = (hours: number) => ({ ...steps(hours), w1: { ...steps(hours).w1, children: [{ external_id: 'w2' }] } })
  const journey = await createJourney(w, { status: 'live' }, graph(48))
  await putInside(w, journey, { user: 'bob', step: 'w2' })
  await putInside(w, journey, { user: 'kim' })
  w.advance('1 hour')
  await journey.put(graph(24))
  expect((await journey.post('publish', { plan: { steps: { w2: 'move' } } })).status).toBe(200)
  await w.drain()
  await putInside(w, journey, { user: 'ana', step: 'w2' })
  // A user who stays on the former version goes on there.
  expect((await journey.post('users/kim/move', { to: 'w2' })).status).toBe(202)
  w.advance('1 minute')
  await w.drain()
  expect(await versionsInside(w, journey)).toEqual(['ana 2', 'bob 2', 'kim 1'])
  expect(await nextAt(w, journey)).toEqual([])
})

test('that users are looked for once more stops no publication, which puts its own in the place of it', async () => {
  await using w = await world()
  await w.users('ana')
  const journey = await createJourney(w, { status: 'live' }, READY)
  await putInside(w, journey, { user: 'ana' })
  await journey.put(readyWith(24))
  expect((await journey.post('publish', { plan: { default: 'move' } })).status).toBe(200)
  await w.drain()
  await putInside(w, journey, { user: 'ana', key: 'behind' })
  expect((await journey.get('versions')).results).toMatchObject([
    { version: 2, moving: 0 },
    { version: 1, moving: 0 },
  ])
  await journey.put(readyWith(12))
  expect((await journey.post('publish')).status).toBe(200)
  expect(await nextAt(w, journey)).toEqual([])
})

test('a user who was held behind the sweep of a journey that was resumed continues a minute later', async () => {
  await using w = await world()
  await w.users('ana', 'bob')
  const journey = await createJourney(w, { status: 'live' }, READY)
  await journey.post('hold')
  await putInside(w, journey, { user: 'bob', held: true })
  expect((await journey.post('resume')).status).toBe(200)
  await w.drain()
  await putInside(w, journey, { user: 'ana', held: true })
  w.advance('1 minute')
  await w.drain()
  expect(await select(w, 'select is_held from journey_entrances where journey_id = $1', [journey.id])).toEqual([
    { is_held: false },
    { is_held: false },
  ])
  expect(await nextAt(w, journey)).toEqual([])
})

/** Sweeps of journeys of another project, which have been due for longer. */
async function sweepsOfAnother(w: World, count: number, kind: string, params: object): Promise<number> {
  const { projectId } = await w.other()
  await select(
    w,
    `with other as (
       insert into journeys (project_id, name, status, created_at, updated_at)
       select $1, 'Other', 'off', $3, $3 from generate_series(1, $2::int) returning id
     )
     insert into journey_sweeps (project_id, journey_id, kind, params, next_at, created_at) select $1, id, $4, $5, $3, $3 from other`,
    [projectId, count, new Date(w.clock.now().getTime() - 1000), kind, params],
  )
  return projectId
}

/** A backlog for which the sweeps of a project rest. */
const queueMany = (w: World, projectId: number) =>
  select(
    w,
    `insert into queue_entries (project_id, kind, request_id, received_at, items, body) values ($1, 'events', '', now(), 50001, '[]')`,
    [projectId],
  )

/** Stops a journey that a user is in. */
async function stopOwn(w: World): Promise<void> {
  await w.users('ana')
  const journey = await createJourney(w, { status: 'live' }, READY)
  await putInside(w, journey, { user: 'ana' })
  await journey.post('stop')
}

test('sweeps of a project that rest keep no sweep of another project waiting', async () => {
  await using w = await world({ own: true })
  const before = w.clock.now().toISOString()
  await queueMany(w, await sweepsOfAnother(w, 200, 'exit', { reason: 'stopped', before }))
  await stopOwn(w)
  await w.drain('journeys.sweep')
  expect(await queuedItems(w)).toHaveLength(1)
})

test('sweeps that rest take no place of a batch in which another one does something', async () => {
  await using w = await world({ own: true })
  const before = w.clock.now().toISOString()
  await sweepsOfAnother(w, 1, 'exit', { reason: 'stopped', before })
  for (let rests = 0; rests < 9; rests++) await queueMany(w, await sweepsOfAnother(w, 1, 'exit', { reason: 'stopped', before }))
  await stopOwn(w)
  await sweepDue(w.ctx)
  expect(await queuedItems(w)).toHaveLength(1)
})

test('sweeps that fail keep no other sweep waiting, are reported at once, and are tried again later', async () => {
  await using w = await world({ own: true })
  const bad = { step: 'start', list_id: 1, schedule: 'none', zone: 'user', since: w.clock.now().toISOString() }
  await sweepsOfAnother(w, 30, 'schedule', bad)
  await stopOwn(w)
  const failed: string[] = []
  const metrics = { ...w.ctx.metrics, jobRun: (name: string) => void failed.push(name) }
  expect(await sweepDue({ ...w.ctx, metrics })).toBeGreaterThan(0)
  expect(await queuedItems(w)).toHaveLength(1)
  expect(failed).toHaveLength(30)
  expect(await sweepDue({ ...w.ctx, metrics })).toBe(0)
  expect(failed).toHaveLength(30)
  w.advance('10 seconds')
  await sweepDue({ ...w.ctx, metrics })
  expect(failed).toHaveLength(60)
})

test('a member whom the list has since the publication, without having joined it by a batch, enters too', async () => {
  await using w = await world()
  await w.users('ana', 'bob')
  const list_id = await listOf(w, 'ana', 'bob')
  await w.drain()
  const data = { trigger: 'list', list_id, existing: true, multiple: true, concurrent: true }
  const journey = await createJourney(w, { status: 'live' }, { ...READY, start: { ...READY.start, data } })
  // As a batch does that was being applied at the publication, a merge, and a rebuild of the list.
  await select(
    w,
    `update list_memberships set changed_at = $2 where project_id = $1 and user_id in (select id from users where external_id = 'bob')`,
    [w.projectId, new Date(w.clock.now().getTime() + 1000)],
  )
  w.advance('30 seconds')
  await w.drain()
  expect((await journey.get('users')).results.map(({ user }: any) => user.external_id).sort()).toEqual(['ana', 'bob'])
})

test('the schedule of an archived journey rests, also when the time zone changes, and goes on when the journey is restored', async () => {
  await using w = await world()
  await w.users('ana')
  const zone = (timezone: string) => w.patch(`/api/client/projects/${w.projectId}`, { timezone }, { key: w.keys.organisation })
  await zone('UTC')
  w.clock.set(new Date('2026-11-23T15:00:00Z'))
  const journey = await createJourney(w, { status: 'live' }, scheduled(await listOf(w, 'ana')))
  await w.delete(journey.path)
  const isDue = () =>
    select(w, `select 1 from journey_sweeps where journey_id = $1 and kind = 'schedule' and next_at < '2100-01-01'`, [journey.id])
  expect(await isDue()).toEqual([])
  await zone('Australia/Sydney')
  expect(await isDue()).toEqual([])
  w.advance('2 days')
  await w.drain()
  await w.post(`${journey.path}/unarchive`)
  expect(await nextAt(w, journey)).toContain('2026-11-25T22:00:00.000Z')
})
