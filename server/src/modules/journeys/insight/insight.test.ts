import { describe, expect, test } from 'vitest'
import { createJourney, READY } from '../../../../test/journeys.ts'
import { select } from '../../../../test/select.ts'
import { type World, world } from '../../../../test/world.ts'

const GATE = {
  type: 'gate',
  x: 0,
  y: 4,
  data: { rule: { attribute: 'data.plan', is: 'pro' } },
  children: [
    { external_id: 'w1', path: 'yes' },
    { external_id: 'out', path: 'no' },
  ],
}
const steps = {
  start: { ...READY.start, children: [{ external_id: 'g1' }] },
  api: { ...READY.api, children: [{ external_id: 'g1' }] },
  g1: GATE,
  w1: READY.w1,
  out: READY.out,
}

const EXPERIMENT = {
  type: 'experiment',
  x: 0,
  y: 4,
  data: {
    branches: [
      { path: 'a', weight: 1 },
      { path: 'b', weight: 1 },
    ],
  },
  children: [
    { external_id: 'a1', path: 'a' },
    { external_id: 'b1', path: 'b' },
  ],
}
const { w1, out } = READY
const WAITS = { a1: w1, b1: w1, out }

/** A live journey with an experiment and a goal. */
async function withExperiment(w: World, arms: object) {
  const journey = await createJourney(w, {}, { api: { ...READY.api, children: [{ external_id: 'x1' }] }, x1: EXPERIMENT, ...arms })
  await w.patch(journey.path, { settings: { goals: [{ name: 'bought', event_name: 'purchase', within_days: 2 }] } })
  const published = await journey.post('publish')
  expect(published.status, published.text).toBe(200)
  return journey
}

async function entered(w: World) {
  await w.post('/api/client/users/batch', [
    { external_id: 'ana', data: { plan: 'pro' } },
    { external_id: 'bob', data: { plan: 'free' } },
    { external_id: 'cleo' },
  ])
  const journey = await createJourney(w, { status: 'live' }, steps)
  for (const external_id of ['ana', 'bob']) await journey.post('entrances', { external_id })
  await w.drain()
  return journey
}

describe('statistics', () => {
  test('count users by step, path and reason, and entered is the sum of the others', async () => {
    await using w = await world()
    const journey = await entered(w)
    const stats = await journey.get('stats')
    expect(stats).toMatchObject({
      entered: 2,
      active: 1,
      completed: 1,
      exited: 0,
      stats_at: w.clock.now().toISOString(),
      held_out: 0,
      refused: {},
      goals: [],
      steps: {
        g1: { entered: 2, active: 0, left: 2, paths: { yes: 1, no: 1 } },
        w1: { entered: 1, active: 1, left: 0 },
        out: { entered: 1, active: 0, left: 1 },
      },
    })
    expect(stats.edges).toEqual(
      expect.arrayContaining([
        { from: 'g1', path: 'yes', to: 'w1', users: 1 },
        { from: 'g1', path: 'no', to: 'out', users: 1 },
      ]),
    )
    const shown = await journey.get('steps')
    expect(shown.g1).toMatchObject({ stats: { entered: 2, active: 0, left: 2, paths: { yes: 1, no: 1 } }, stats_at: stats.stats_at })
    for (const { stats } of Object.values(shown) as any[]) expect(stats.entered).toBe(stats.active + stats.left)
    expect(await journey.read()).toMatchObject({ stats: { entered: 2, active: 1, completed: 1, exited: 0 } })
  })

  test('have no edge for users who exit by an open path', async () => {
    await using w = await world()
    await w.users('ana')
    const w1 = { ...READY.w1, data: { format: 'date', date: '{{ user.data.renews_at }}' } }
    const journey = await createJourney(w, { status: 'live' }, { ...READY, w1 })
    await journey.post('entrances', { external_id: 'ana' })
    await w.drain()
    const stats = await journey.get('stats')
    expect(stats).toMatchObject({ exited: 1, reasons: { date_missing: 1 }, steps: { w1: { left: 1, paths: { missing: 1 } } } })
    expect(stats.edges).toEqual([{ from: 'api', path: 'default', to: 'w1', users: 1 }])
  })

  test('stay the same when counts are folded', async () => {
    await using w = await world()
    const journey = await entered(w)
    for (let time = 0; time < 30; time++) {
      await journey.post('entrances', { external_id: 'bob' })
      await w.drain('ingest.apply')
    }
    await select(
      w,
      `insert into journey_counts (project_id, journey_id, what, reason, users, at)
      select project_id, id, 'refused', 'rule', 1, '2020-01-01' from journeys, generate_series(1, 101) where id = $1`,
      [journey.id],
    )
    const before = await journey.get('stats')
    const rows = async () => (await select(w, 'select 1 from journey_counts where journey_id = $1', [journey.id])).length
    expect(await rows()).toBeGreaterThan(100)
    await w.drain('journeys.fold')
    expect(await rows()).toBeLessThan(30)
    expect(await journey.get('stats')).toEqual(before)
  })

  test('are folded where that spares rows, however many journeys have many different counts', async () => {
    await using w = await world()
    const others = await Promise.all(Array.from({ length: 20 }, () => createJourney(w)))
    const journey = await createJourney(w, { status: 'live' }, steps)
    const counts = (ids: number[], reason: string) =>
      select(
        w,
        `insert into journey_counts (project_id, journey_id, what, reason, users, at)
         select project_id, id, 'refused', ${reason}, 1, '2020-01-01' from journeys, generate_series(1, 150) g where id = any($1)`,
        [ids],
      )
    await counts(
      others.map(({ id }) => id),
      `'reason-' || g`,
    )
    await counts([journey.id], `'rule'`)
    await w.drain('journeys.fold')
    expect(await select(w, 'select users::int from journey_counts where journey_id = $1', [journey.id])).toEqual([{ users: 150 }])
  })

  test('have the goals by arm, with those of users who were held out', async () => {
    await using w = await world()
    const names = Array.from({ length: 40 }, (_, at) => `user-${at}`)
    await w.users(...names)
    const journey = await createJourney(w, {}, READY)
    await w.patch(journey.path, { settings: { holdout_percent: 50, goals: [{ name: 'bought', event_name: 'purchase', within_days: 2 }] } })
    await journey.post('publish')
    for (const external_id of names) await journey.post('entrances', { external_id })
    await w.drain()
    const buy = (external_id: string) => w.post('/api/client/events', [{ external_id, name: 'purchase' }])
    for (const name of names) await buy(name)
    await w.drain()
    for (const name of names) await buy(name)
    await w.drain()
    const { entered, held_out, goals } = await journey.get('stats')
    expect(entered + held_out).toBe(40)
    expect(held_out).toBeGreaterThan(5)
    expect(goals).toEqual([{ name: 'bought', arm: null, users: entered, rate: 1, holdout_rate: 1 }])
  })

  test('have the goals of each arm of an experiment', async () => {
    await using w = await world()
    const names = Array.from({ length: 20 }, (_, at) => `user-${at}`)
    await w.users(...names)
    const journey = await withExperiment(w, WAITS)
    for (const external_id of names) await journey.post('entrances', { external_id })
    await w.drain()
    const { paths } = (await journey.get('stats')).steps.x1
    expect(Math.min(paths.a, paths.b)).toBeGreaterThan(2)
    const arms = await Promise.all(names.map(async (name) => (await journey.get(`users/${name}`)).arm))
    // Two of the users of arm a reach the goal, and all of arm b.
    const buyers = [...names.filter((_, at) => arms[at] === 'a').slice(0, 2), ...names.filter((_, at) => arms[at] === 'b')]
    await w.post(
      '/api/client/events',
      buyers.map((external_id) => ({ external_id, name: 'purchase' })),
    )
    await w.drain()
    const { goals } = await journey.get('stats')
    const rate = (users: number, all: number) => Math.round((users / all) * 10_000) / 10_000
    expect(goals).toEqual([
      { name: 'bought', arm: 'a', users: 2, rate: rate(2, paths.a) },
      { name: 'bought', arm: 'b', users: paths.b, rate: 1 },
    ])
  })

  test('count a user in an arm once for an entrance, however often they return to the experiment', async () => {
    await using w = await world()
    await w.users('ana')
    const back = { ...READY.w1, data: { format: 'duration', minutes: 5 }, children: [{ external_id: 'x1' }] }
    const journey = await withExperiment(w, { a1: back, b1: back })
    await journey.post('entrances', { external_id: 'ana' })
    await w.drain()
    for (let round = 0; round < 3; round++) {
      w.clock.advance(5 * 60_000)
      await w.drain()
    }
    await w.post('/api/client/events', [{ external_id: 'ana', name: 'purchase' }])
    await w.drain()
    const { steps, goals } = await journey.get('stats')
    expect(steps.x1.left).toBe(4)
    expect(goals).toEqual([{ name: 'bought', arm: expect.stringMatching(/^[ab]$/), users: 1, rate: 1 }])
  })

  test('have the share of those who took the path, each once, of users who come to a second experiment', async () => {
    await using w = await world()
    const names = Array.from({ length: 24 }, (_, at) => `user-${at}`)
    await w.users(...names)
    const toSecond = { ...w1, data: { format: 'duration', minutes: 5 }, children: [{ external_id: 'x2' }] }
    const branches = ['b', 'c'].map((path) => ({ path, weight: 1 }))
    const second = { ...EXPERIMENT, data: { branches }, children: branches.map(({ path }) => ({ path, external_id: 'last' })) }
    const journey = await withExperiment(w, { a1: toSecond, b1: toSecond, x2: second, last: w1, out })
    for (const external_id of names) await journey.post('entrances', { external_id })
    await w.drain()
    const buy = async (buyers: string[]) => {
      const events = buyers.map((external_id) => ({ external_id, name: 'purchase' }))
      await w.post('/api/client/events', events)
      await w.drain()
    }
    const arms = (): Promise<string[]> => Promise.all(names.map(async (name) => (await journey.get(`users/${name}`)).arm))
    const first = await arms()
    const took = (path: string) => names.filter((_, at) => first[at] === path)
    // All but one of arm a reach the goal between the experiments, and it stays with the arm of that time.
    const [late, ...early] = took('a')
    expect(early.length).toBeGreaterThan(1)
    await buy(early)
    w.advance('5 minutes')
    await w.drain()
    await buy([late as string, ...took('b')])
    const last = await arms()
    const { goals } = await journey.get('stats')
    const ofArm = (arm: string) => {
      const users = names.filter((name, at) => (early.includes(name) ? first[at] : last[at]) === arm).length
      const all = names.filter((_, at) => first[at] === arm || last[at] === arm).length
      return { name: 'bought', arm, users, rate: Math.round((users / all) * 10_000) / 10_000 }
    }
    expect(goals).toEqual(['a', 'b', 'c'].map(ofArm))
    expect(goals[0]).toMatchObject({ users: early.length, rate: expect.closeTo(early.length / took('a').length, 3) })
  })

  test('have the goals that users reach after the journey was switched off, within their days', async () => {
    await using w = await world()
    const names = Array.from({ length: 20 }, (_, at) => `user-${at}`)
    await w.users(...names)
    const journey = await createJourney(w, {}, READY)
    await w.patch(journey.path, { settings: { holdout_percent: 50, goals: [{ name: 'bought', event_name: 'purchase', within_days: 5 }] } })
    await journey.post('publish')
    for (const external_id of names) await journey.post('entrances', { external_id })
    await w.drain()
    expect((await journey.post('drain')).status).toBe(202)
    const buy = async (buyers: string[]) => {
      const events = buyers.map((external_id) => ({ external_id, name: 'purchase' }))
      await w.post('/api/client/events', events)
      await w.drain()
    }
    w.advance('4 days')
    await buy(names.slice(1))
    const { entered, held_out, goals } = await journey.get('stats')
    expect(entered + held_out).toBe(20)
    expect(goals[0].users + goals[0].holdout_rate * held_out).toBeCloseTo(19, 0)
    w.advance('2 days')
    await buy(names)
    expect((await journey.get('stats')).goals).toEqual(goals)
  })

  test('tell users who were held out from those on a path named holdout', async () => {
    await using w = await world()
    const names = Array.from({ length: 40 }, (_, at) => `user-${at}`)
    await w.users(...names)
    const branches = ['mail', 'holdout'].map((path) => ({ path, weight: 1 }))
    const experiment = { ...EXPERIMENT, data: { branches }, children: branches.map(({ path }) => ({ path, external_id: 'w1' })) }
    const journey = await createJourney(w, {}, { api: { ...READY.api, children: [{ external_id: 'x1' }] }, x1: experiment, w1, out })
    await w.patch(journey.path, { settings: { holdout_percent: 40, goals: [{ name: 'bought', event_name: 'purchase', within_days: 2 }] } })
    await journey.post('publish')
    for (const external_id of names) await journey.post('entrances', { external_id })
    await w.drain()
    await w.post(
      '/api/client/events',
      names.map((external_id) => ({ external_id, name: 'purchase' })),
    )
    await w.drain()
    const { held_out, steps, goals } = await journey.get('stats')
    expect(held_out).toBeGreaterThan(3)
    expect(goals).toEqual(['holdout', 'mail'].map((arm) => ({ name: 'bought', arm, users: steps.x1.paths[arm], rate: 1, holdout_rate: 1 })))
  })

  test('have no rate above 1 when a user who enters again reaches a goal before the experiment', async () => {
    await using w = await world()
    await w.users('ana')
    const first = { ...w1, data: { format: 'duration', minutes: 5 }, children: [{ external_id: 'x1' }] }
    const experiment = { ...EXPERIMENT, children: ['a', 'b'].map((path) => ({ path, external_id: 'out' })) }
    const api = { ...READY.api, data: { trigger: 'api', multiple: true } }
    const journey = await createJourney(w, {}, { api, w1: first, x1: experiment, out })
    await w.patch(journey.path, { settings: { goals: [{ name: 'bought', event_name: 'purchase', within_days: 2 }] } })
    expect((await journey.post('publish')).status).toBe(200)
    const enter = async () => {
      await journey.post('entrances', { external_id: 'ana' })
      await w.drain()
    }
    const buy = async () => {
      await w.post('/api/client/events', [{ external_id: 'ana', name: 'purchase' }])
      await w.drain()
    }
    await enter()
    w.advance('5 minutes')
    await w.drain()
    await buy()
    w.advance('5 minutes')
    await enter()
    await buy()
    expect((await journey.get('stats')).goals).toEqual([{ name: 'bought', arm: expect.stringMatching(/^[ab]$/), users: 2, rate: 1 }])
  })

  test('have held-out users whose goals were counted by the arm holdout, unless a path has that name', async () => {
    await using w = await world()
    const names = Array.from({ length: 20 }, (_, at) => `user-${at}`)
    await w.users(...names)
    const journey = await createJourney(w, {}, READY)
    await w.patch(journey.path, { settings: { holdout_percent: 50, goals: [{ name: 'bought', event_name: 'purchase', within_days: 2 }] } })
    await journey.post('publish')
    for (const external_id of names) await journey.post('entrances', { external_id })
    await w.drain()
    const { held_out, entered } = await journey.get('stats')
    const count = (what: string, users: number) =>
      select(
        w,
        `insert into journey_counts (project_id, journey_id, what, path, arm, users, at)
         select project_id, id, $2, case $2 when 'goal' then 'bought' end, 'holdout', $3, '2020-01-01' from journeys where id = $1`,
        [journey.id, what, users],
      )
    await count('goal', held_out)
    expect((await journey.get('stats')).goals).toEqual([{ name: 'bought', arm: null, users: 0, rate: 0, holdout_rate: 1 }])
    await count('arm', entered)
    expect((await journey.get('stats')).goals).toMatchObject([{ arm: 'holdout', users: held_out, holdout_rate: 0 }])
  })

  test('count a goal that an event of the journey reaches as soon as a user is in an arm', async () => {
    await using w = await world()
    await w.users('ana')
    const buys = { type: 'event', x: 0, y: 6, data: { event_name: 'purchase' }, children: [{ external_id: 'w1' }] }
    const journey = await withExperiment(w, { a1: buys, b1: buys, w1, out })
    await journey.post('entrances', { external_id: 'ana' })
    await w.drain()
    expect((await journey.get('stats')).goals).toEqual([{ name: 'bought', arm: expect.stringMatching(/^[ab]$/), users: 1, rate: 1 }])
  })
})

describe('users', () => {
  test('inside are listed by entrance, at a step, in pages, and ended ones by user', async () => {
    await using w = await world()
    const journey = await entered(w)
    await journey.post('entrances', { external_id: 'cleo' })
    await w.drain()
    const names = async (query: string) =>
      (await journey.get(`users${query}`)).results.map(({ user, state }: any) => `${user.external_id} ${state}`)
    expect(await names('')).toEqual(['ana inside'])
    expect(await names('?step=w1')).toEqual(['ana inside'])
    expect(await names('?step=g1')).toEqual([])
    expect(await names('?state=parked')).toEqual([])
    expect(await names('?state=completed')).toEqual(['bob completed', 'cleo completed'])
    const first = await journey.get('users?state=completed&limit=1')
    expect(first.results).toHaveLength(1)
    const second = await journey.get(`users?state=completed&limit=1&cursor=${first.nextCursor}`)
    expect(second.results[0].user.external_id).toBe('cleo')
    expect(await names('?state=exited')).toEqual([])
    expect(await w.get(`${journey.path}/users?state=completed&step=w1`)).toMatchObject({ status: 422, body: { error: { param: 'step' } } })
  })

  test('have the journeys in which they are, without archived ones and those that they left', async () => {
    await using w = await world()
    const journey = await entered(w)
    const other = await createJourney(w, { name: 'Other', status: 'live' }, steps)
    await other.post('entrances', { external_id: 'ana' })
    await w.drain()
    const journeysOf = async (name: string, key = w.keys.support) => w.get(`/api/client/users/${name}/journeys`, { key })
    const { results } = (await journeysOf('ana')).body
    expect(results.map(({ journey_id }: any) => journey_id).toSorted()).toEqual([journey.id, other.id].toSorted())
    expect(results.find(({ journey_id }: any) => journey_id === other.id)).toMatchObject({
      journey_name: 'Other',
      entrance_id: expect.any(Number),
      version: 1,
      step: 'w1',
      due_at: expect.any(String),
    })
    expect((await journeysOf('bob')).body.results).toEqual([])
    await w.delete(other.path)
    expect((await journeysOf('ana')).body.results).toMatchObject([{ journey_id: journey.id }])
    expect((await journeysOf('ana', (await w.other()).keys.secret)).status).toBe(404)
  })

  test('have a timeline with a sentence for each decision', async () => {
    await using w = await world()
    const journey = await entered(w)
    const timeline = await journey.get('users/ana')
    expect(timeline).toMatchObject({ entered: 1, active: 1, entrances: [{ cause: { is: 'api' }, outcome: null, step: 'w1', version: 1 }] })
    const [{ visits }] = timeline.entrances
    expect(visits.map(({ step }: any) => step)).toEqual(['api', 'g1', 'w1'])
    expect(visits[1]).toMatchObject({ visit: 2, path: 'yes', reason: 'rule', sentence: expect.stringMatching(/\w/) })
    expect((await journey.get('users/bob')).entrances).toMatchObject([{ outcome: 'completed', ended_at: expect.any(String) }])
    expect(await journey.get('users/cleo')).toEqual({ entered: 0, completed: 0, exited: 0, active: 0, entrances: [] })
    expect((await w.get(`${journey.path}/users/nobody`)).status).toBe(404)
  })

  test('have no values of attributes that the caller may not see', async () => {
    await using w = await world()
    await w.put('/api/client/attributes/plan', { hidden: true })
    const journey = await entered(w)
    for (const path of ['users/ana', 'users/ana/explain']) expect(JSON.stringify(await journey.get(path))).not.toContain('"pro"')
  })

  test('have no values of hidden attributes that they no longer have', async () => {
    await using w = await world()
    await w.put('/api/client/attributes/plan', { hidden: true })
    const journey = await entered(w)
    await w.post('/api/client/users/batch', [{ external_id: 'ana', data: { plan: null } }])
    expect(JSON.stringify(await journey.get('users/ana'))).not.toContain('"pro"')
  })

  test('have no values of hidden attributes whose key has a dot', async () => {
    await using w = await world()
    await w.put('/api/client/attributes/loyalty.level', { hidden: true })
    await w.post('/api/client/users/batch', [{ external_id: 'ana', data: { 'loyalty.level': 'gold' } }])
    const rule = { attribute: String.raw`data.loyalty\.level`, is: 'gold' }
    const journey = await createJourney(w, { status: 'live' }, { ...steps, g1: { ...GATE, data: { rule } } })
    await journey.post('entrances', { external_id: 'ana' })
    await w.drain()
    const timeline = await journey.get('users/ana')
    expect(timeline.entrances[0].visits[1]).toMatchObject({ step: 'g1', path: 'yes' })
    const { body, text } = await journey.post('simulate', { user: { external_id: 'ana' }, entrance: 'api' })
    expect(body.visits[1], text).toMatchObject({ step: 'g1', path: 'yes' })
    for (const shown of [timeline, await journey.get('users/ana/explain'), body]) expect(JSON.stringify(shown)).not.toContain('gold')
  })
})

describe('an explanation', () => {
  test('has the last events that an entrance is for, with every check', async () => {
    await using w = await world()
    await w.users('ana')
    const rule = { attribute: 'data.plan', is: 'pro' }
    const data = { trigger: 'event', event_name: 'cart', where: [{ attribute: 'data.total', greater_than: 50 }], rule }
    const journey = await createJourney(w, {}, { ...READY, start: { ...READY.start, data } })
    const list = (await w.post('/api/client/lists', { name: 'Staff', type: 'static' })).body.id
    await w.post(`/api/client/lists/${list}/users`, { external_ids: ['ana'] })
    await w.patch(journey.path, { settings: { exclusion_list_ids: [list] } })
    await journey.post('publish')
    await w.post('/api/client/events', [
      { external_id: 'ana', name: 'cart', data: { total: 20 } },
      { external_id: 'ana', name: 'other' },
    ])
    await w.drain()
    const { facts, now } = await journey.get('users/ana/explain')
    expect(facts).toMatchObject([{ event: 'cart', entrance: 'start', at: expect.any(String) }])
    const passed = Object.fromEntries(facts[0].checks.map(({ check, passed }: any) => [check, passed]))
    expect(passed).toEqual({
      not_live: true,
      too_old: true,
      where: false,
      rule: false,
      excluded: false,
      held_out: true,
      daily_maximum: true,
      already_inside: true,
      once_only: true,
    })
    expect(now.checks.map(({ check }: any) => check)).toEqual(['not_live', 'excluded', 'held_out', 'daily_maximum'])
    expect((await journey.get('stats')).refused).toEqual({ where: 1 })
  })

  test('names the entrance that the event is for, and counts earlier entrances with the same key', async () => {
    await using w = await world()
    await w.users('ana')
    const data = { trigger: 'event', event_name: 'cart' }
    const journey = await createJourney(
      w,
      { status: 'live' },
      {
        big: { ...READY.start, data: { ...data, where: [{ attribute: 'data.total', greater_than: 50 }] } },
        keyed: { ...READY.start, data: { ...data, entry_key: 'data.cart' } },
        w1: READY.w1,
        out: READY.out,
      },
    )
    const checksFor = async (cart: string) => {
      w.advance('1 minute')
      await w.post('/api/client/events', [{ external_id: 'ana', name: 'cart', data: { cart, total: 10 } }])
      await w.drain()
      return (await journey.get('users/ana/explain')).facts[0]
    }
    const first = await checksFor('c-1')
    expect(first).toMatchObject({ entrance: 'keyed' })
    expect(first.checks.at(-1)).toMatchObject({ check: 'daily_maximum' })
    w.advance('3 days')
    await w.drain()
    const failed = ({ checks }: any) => checks.filter(({ passed }: any) => !passed).map(({ check }: any) => check)
    expect(failed(await checksFor('c-1'))).toEqual(['once_only'])
    await w.patch(journey.path, { status: 'off' })
    expect(failed(await checksFor('c-2'))).toEqual(['not_live'])
  })

  test('of an event that starts nothing says why: of an import, or about a message of the journey', async () => {
    await using w = await world()
    const list = (await w.post('/api/client/lists', { name: 'All', type: 'static' })).body.id
    const csv = { raw: 'external_id\nana\n', headers: { 'content-type': 'text/csv' } }
    expect((await w.post(`/api/client/lists/${list}/import`, undefined, csv)).status).toBeLessThan(300)
    await w.drain()
    const on = (event_name: string, more: object = {}) => ({
      ...READY.start,
      data: { trigger: 'event', event_name, multiple: true, ...more },
    })
    const graph = { created: on('user_created'), clicked: on('email_clicked'), w1, out }
    const journey = await createJourney(w, { status: 'live' }, graph)
    const other = await createJourney(w, { status: 'live' }, { ...graph, imported: on('user_created', { imports: true }) })
    await w.post('/api/client/events', [{ external_id: 'ana', name: 'email_clicked', data: { journey_id: journey.id } }])
    await w.drain()
    await select(w, `update events set source = 'system' where project_id = $1 and name = 'email_clicked'`, [w.projectId])
    const explained = async ({ get }: typeof journey) =>
      (await get('users/ana/explain')).facts.map(({ event, entrance, checks }: any) => [
        `${event} ${entrance}`,
        ...checks.filter(({ passed }: any) => !passed).map(({ check }: any) => check),
      ])
    const inside = ['already_inside']
    expect(await explained(journey)).toEqual([
      ['email_clicked clicked', 'own_message', ...inside],
      ['user_created created', 'imports', ...inside],
    ])
    expect(await explained(other)).toEqual([
      ['email_clicked clicked', ...inside],
      ['user_created imported', ...inside],
    ])
  })

  test('of a user who is inside says so', async () => {
    await using w = await world()
    await w.users('ana')
    const journey = await createJourney(w, { status: 'live' }, READY)
    for (const _ of [1, 2]) {
      await w.post('/api/client/events', [{ external_id: 'ana', name: 'cart' }])
      await w.drain()
    }
    const { facts } = await journey.get('users/ana/explain')
    expect(facts).toHaveLength(2)
    expect(facts[0].checks.filter(({ passed }: any) => !passed).map(({ check }: any) => check)).toEqual(['already_inside', 'once_only'])
  })

  test('of an event that replaces the entry event of a user who is inside has no failed check', async () => {
    await using w = await world()
    await w.users('ana')
    const start = { ...READY.start, data: { ...READY.start.data, on_repeat: 'update' } }
    const journey = await createJourney(w, { status: 'live' }, { ...READY, start })
    for (const _ of [1, 2]) {
      await w.post('/api/client/events', [{ external_id: 'ana', name: 'cart' }])
      await w.drain()
    }
    const { facts } = await journey.get('users/ana/explain')
    expect(facts[0].checks.filter(({ passed }: any) => !passed)).toEqual([])
    expect(facts[0].checks.at(-1)).toEqual({ check: 'already_inside', passed: true, seen: { inside: 1, on_repeat: 'update' } })
    expect((await journey.get('stats')).refused).toEqual({})
  })

  test('of an event older than EVENT_TRIGGER_MAX_AGE_H says so, and nobody enters by it', async () => {
    await using w = await world({ env: { EVENT_TRIGGER_MAX_AGE_H: '24' } })
    await w.users('ana')
    const journey = await createJourney(w, { status: 'live' }, READY)
    const created_at = new Date(w.clock.now().getTime() - 48 * 3_600_000).toISOString()
    await w.post('/api/client/events', [{ external_id: 'ana', name: 'cart', created_at }])
    await w.drain()
    expect((await journey.get('stats')).refused).toEqual({ too_old: 1 })
    const [{ checks }] = (await journey.get('users/ana/explain')).facts
    expect(checks.filter(({ passed }: any) => !passed).map(({ check }: any) => check)).toEqual(['too_old'])
  })
})
