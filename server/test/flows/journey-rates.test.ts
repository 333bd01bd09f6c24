/** Places at balancers when journeys are published, stopped and archived, observed at the users who pass. */
import { expect, test } from 'vitest'
import { run } from '../blasts.ts'
import { createJourney, type JourneyClient } from '../journeys.ts'
import { select } from '../select.ts'
import { type World, world } from '../world.ts'

const at = { x: 0, y: 0 }
const to = (external_id: string, path?: string) => ({ external_id, ...(path !== undefined && { path }) })

/** Users enter, wait for their places, and leave, or leave at once if there is no place. */
const steps = (rate: object, reason = 'passed', before: object | null = null) => ({
  start: {
    type: 'entrance',
    ...at,
    data: { trigger: 'event', event_name: 'cart', multiple: true },
    children: [to(before ? 'before' : 'rate')],
  },
  ...(before && { before: { type: 'delay', ...at, data: before, children: [to('rate')] } }),
  rate: { type: 'balancer', ...at, data: rate, children: [to('end'), to('over', 'over_limit')] },
  end: { type: 'exit', ...at, data: { reason } },
  over: { type: 'exit', ...at, data: { reason: 'over_limit' } },
})
const HOURLY = { rate_limit: 1, rate_interval: 'hour' }
const DAILY = { rate_limit: 1, rate_interval: 'day' }

async function enter(w: World, ...names: string[]): Promise<void> {
  await w.users(...names)
  for (const external_id of names) await w.post('/api/client/events', [{ name: 'cart', external_id }])
  await w.drain()
}

const publish = async (w: World, journey: JourneyClient, graph: object, plan: object = { default: 'move' }) => {
  expect((await journey.put(graph)).status).toBe(200)
  const { status, text } = await journey.post('publish', { plan })
  expect(status, text).toBe(200)
  await w.drain()
}

const left = async (w: World): Promise<{ user: string; reason: string }[]> =>
  (await select(
    w,
    `select u.external_id as user, p.reason from journey_past p join users u on u.project_id = p.project_id and u.id = p.user_id
     where p.project_id = $1 order by u.id`,
    [w.projectId],
  )) as { user: string; reason: string }[]

/** How many users have passed now, and after each further hour. */
async function passedBy(w: World, hours: number): Promise<number[]> {
  const passed = async () => (await left(w)).filter(({ reason }) => reason.startsWith('passed')).length
  const found = [await passed()]
  for (let hour = 0; hour < hours; hour++) {
    w.advance('1 hour')
    await w.drain()
    found.push(await passed())
  }
  return found
}

test('users who wait at a balancer keep their places in a new version with the same rate', async () => {
  await using w = await world()
  const journey = await createJourney(w, { status: 'live' }, steps({ ...HOURLY, max_wait_hours: 4 }))
  await enter(w, 'ana', 'bob', 'kim', 'lee')
  await publish(w, journey, steps({ ...HOURLY, max_wait_hours: 4 }, 'passed again'))
  await publish(w, journey, steps({ ...HOURLY, max_wait_hours: 3 }, 'passed'))
  expect(await passedBy(w, 3)).toEqual([1, 2, 3, 4])
})

test('a new version with another rate gives those who wait new places, from its publication on', async () => {
  await using w = await world()
  const journey = await createJourney(w, { status: 'live' }, steps(DAILY))
  await enter(w, 'ana', 'bob', 'kim', 'lee')
  await publish(w, journey, steps(HOURLY))
  expect(await passedBy(w, 2)).toEqual([2, 3, 4])
})

test('users of an earlier version get new places too when they follow to another rate, and those who enter are not behind them', async () => {
  await using w = await world()
  const journey = await createJourney(w, { status: 'live' }, steps(DAILY))
  await enter(w, 'ana', 'bob', 'kim', 'lee')
  await publish(w, journey, steps(HOURLY), {})
  await publish(w, journey, steps(HOURLY, 'passed again'))
  await enter(w, 'zoe')
  expect(await passedBy(w, 3)).toEqual([2, 3, 4, 5])
})

test('users who keep their places at the rate of an earlier version are followed by those who get new ones', async () => {
  await using w = await world()
  const journey = await createJourney(w, { status: 'live' }, steps(HOURLY))
  await enter(w, 'ana', 'bob', 'kim')
  await publish(w, journey, steps(DAILY), {})
  await enter(w, 'lee', 'pia')
  await publish(w, journey, steps(HOURLY, 'passed again'))
  expect(await passedBy(w, 4)).toEqual([1, 2, 3, 4, 5])
})

test.each([
  ['could let leave earlier', true],
  ['could have let leave earlier in the former version', false],
])('places are kept to their end by users whom an exit criterion %s', async (_, isKept) => {
  await using w = await world()
  const journey = await createJourney(w, { status: 'live' }, steps({ rate_limit: 2, rate_interval: 'hour' }))
  await enter(w, 'ana', 'bob', 'kim')
  // Time alone can meet the rule before most places come, and nobody is vip.
  const quiet = {
    all: [
      { event: 'login', within: '90m', exactly: 0 },
      { attribute: 'data.vip', is: true },
    ],
  }
  const out = { type: 'exit', ...at, data: { reason: 'quiet', when: [{ rule: quiet }] } }
  await w.post(
    '/api/client/events',
    ['lee', 'pia', 'zoe'].map((external_id) => ({ name: 'login', external_id })),
  )
  await publish(w, journey, { ...steps(HOURLY), out }, {})
  await enter(w, 'lee', 'pia', 'zoe')
  await publish(w, journey, { ...steps(HOURLY, 'passed again'), ...(isKept && { out }) })
  expect(await passedBy(w, 4)).toEqual([2, 3, 4, 5, 6])
})

test('the places of users who stay on their version are not given to others', async () => {
  await using w = await world()
  const journey = await createJourney(w, { status: 'live' }, steps(HOURLY))
  await enter(w, 'ana', 'bob', 'kim')
  await publish(w, journey, steps({ rate_limit: 2, rate_interval: 'hour' }), {})
  await enter(w, 'lee')
  expect(await passedBy(w, 3)).toEqual([1, 2, 3, 4])
})

test.each(['stop', 'archive', 'publish'])('users who all leave a balancer leave no places behind: %s', async (how) => {
  await using w = await world()
  const journey = await createJourney(w, { status: 'live' }, steps(DAILY))
  await enter(w, 'ana', 'bob', 'kim', 'lee')
  if (how === 'stop') expect((await journey.post('stop')).status).toBe(202)
  if (how === 'archive') {
    expect((await w.delete(journey.path)).status).toBe(204)
    expect((await w.post(`${journey.path}/unarchive`)).status).toBe(200)
  }
  if (how === 'publish') await publish(w, journey, steps(DAILY, 'passed again'), { steps: { rate: 'exit' } })
  await w.drain()
  expect((await left(w)).map(({ user }) => user)).toEqual(['ana', 'bob', 'kim', 'lee'])
  if (how !== 'publish') expect((await w.patch(journey.path, { status: 'live' })).status).toBe(200)
  await enter(w, 'zoe')
  expect((await left(w)).at(-1)).toMatchObject({ user: 'zoe', reason: expect.stringContaining('passed') })
})

test('users who enter a restored journey before those inside have exited keep their places', async () => {
  await using w = await world()
  const journey = await createJourney(w, { status: 'live' }, steps(HOURLY))
  await enter(w, 'ana', 'bob')
  expect((await w.delete(journey.path)).status).toBe(204)
  expect((await w.post(`${journey.path}/unarchive`)).status).toBe(200)
  expect((await w.patch(journey.path, { status: 'live' })).status).toBe(200)
  w.advance('1 minute')
  await w.users('kim', 'lee')
  for (const external_id of ['kim', 'lee']) await w.post('/api/client/events', [{ name: 'cart', external_id }])
  await w.drain('ingest.apply')
  await enter(w, 'zoe')
  expect(await passedBy(w, 2)).toEqual([2, 3, 4])
})

test('users whom a stopped journey keeps because it is switched on again keep their places', async () => {
  await using w = await world()
  const journey = await createJourney(w, { status: 'live' }, steps(HOURLY))
  await enter(w, 'ana', 'bob', 'kim')
  // The sweep comes to these first.
  await select(
    w,
    `insert into journey_entrances (project_id, user_id, entrance_id, journey_id, step_id, version, visit, depth, entered_at, arrived_at, acted_at, slot, cause)
     select project_id, (select min(id) from users where project_id = $1), g, journey_id, step_id, version, visit, depth, entered_at, arrived_at, acted_at, slot || g, cause
     from (select * from journey_entrances where project_id = $1 limit 1) e, generate_series(1, 1000) g`,
    [w.projectId],
  )
  expect((await journey.post('stop')).status).toBe(202)
  expect(await run(w, 'journeys.sweep')).toBe(1000)
  await select(w, 'delete from queue_entries where project_id = $1', [w.projectId])
  await select(w, 'delete from journey_entrances where project_id = $1 and entrance_id <= 1000', [w.projectId])
  expect((await w.patch(journey.path, { status: 'live' })).status).toBe(200)
  await enter(w, 'zoe')
  expect(await passedBy(w, 3)).toEqual([1, 2, 3, 4])
})

test('users of several versions who come to a balancer together get places by the settings of their own', async () => {
  await using w = await world()
  const later = { format: 'duration', hours: 1 }
  const journey = await createJourney(w, { status: 'live' }, steps({ ...HOURLY, max_wait_hours: 1 }, 'passed', later))
  await enter(w, 'ana', 'bob', 'kim', 'lee')
  await publish(w, journey, steps(HOURLY, 'passed', later), {})
  await enter(w, 'pia', 'zoe')
  w.advance('1 hour')
  await w.drain()
  const over = (await left(w)).filter(({ reason }) => reason === 'over_limit').map(({ user }) => user)
  expect(over.length).toBeGreaterThan(1)
  expect(over).not.toContain('pia')
  expect(over).not.toContain('zoe')
})
