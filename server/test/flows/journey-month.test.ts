/**
 * A month of arbitrary journeys, live: what happened is what a backtest of the same inputs gives, user by user, and the tables add up. One
 * fixed seed is in the gate; `JOURNEY_MONTH_RUNS` and `JOURNEY_MONTH_SEED` try others.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type StoredTrail, trailOf } from '../../src/modules/positions/index.ts'
import { EVENT_NAMES, type GrownGraph, NO_IDS, type Pick, picks, publishableGraphs } from '../journey-graphs.ts'
import { interpret, type OracleInput, simplified } from '../journey-oracle.ts'
import { createJourney, type JourneyClient, userIdOf } from '../journeys.ts'
import { select } from '../select.ts'
import { type World, world } from '../world.ts'

const RUNS = Number(process.env.JOURNEY_MONTH_RUNS ?? 2)
const SEED = Number(process.env.JOURNEY_MONTH_SEED ?? 20_261_123)
const USERS = ['ana', 'ben', 'cleo', 'dan', 'eve', 'finn']
const ITEMS = 45
const PAUSES_MS = [60_000, 3_600_000, 20 * 3_600_000]
const JOBS = ['ingest.apply', 'journeys.call', 'journeys.sweep']

test('what happens live is what a backtest gives, and the tables add up', async () => {
  await using w = await world()
  w.replaceFetch({ request: async () => ({ is: 'answered', status: 200, headers: {}, body: '{"score":7}', elapsedMs: 1 }) as never })
  await w.users(...USERS)
  const { body } = await w.post('/api/client/lists', { name: 'Pro', type: 'dynamic', rule: { attribute: 'data.plan', is: 'pro' } })
  const chosen = await w.post('/api/client/lists', { name: 'Chosen', type: 'static' })
  await w.drain()
  const ids = { ...NO_IDS, lists: [body.id], staticLists: [chosen.body.id] }
  await fc.assert(
    fc.asyncProperty(publishableGraphs(ids, 15), picks, async (graph, pick) => {
      const journey = await createJourney(w, {}, graph)
      const published = await journey.post('publish')
      expect(published.status, published.text).toBe(200)
      const since = w.clock.now().toISOString()
      await month(w, pick)
      await expectSums(w, journey)
      await expectSame(w, journey, graph, since)
      expect((await journey.post('stop')).status).toBe(202)
      await w.drain(...JOBS)
      await expectSums(w, journey)
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  )
}, 600_000)

test('what happens live is what a naive interpreter of each user says', async () => {
  await using w = await world()
  await w.users(...USERS)
  await w.drain()
  await fc.assert(
    fc.asyncProperty(publishableGraphs(NO_IDS, 15), picks, async (grown, pick) => {
      const graph = simplified(grown)
      const journey = await createJourney(w, {}, graph)
      const published = await journey.post('publish')
      expect(published.status, published.text).toBe(200)
      const data = await attributesNow(w)
      const inputs = await month(w, pick)
      await expectSums(w, journey)
      const live = await trails(w, journey)
      for (const name of USERS) {
        const id = await userIdOf(w, name)
        const user = { id, externalId: name, createdAt: new Date(0), zone: 'Australia/Sydney', data: data.get(name) ?? {} }
        const said = interpret({ id: journey.id, graph }, user, inputs.get(name) ?? [], w.clock.now())
        const lines = said.map(
          ({ step, path, arrived, left }) => `${id} ${step} ${path} ${arrived.toISOString()} ${left?.toISOString() ?? null}`,
        )
        const own = live.filter((line) => line.startsWith(`${id} `)).map((line) => line.replace(/^(\S+ \S+ \S+) \S+/, '$1'))
        expect(own, JSON.stringify({ graph, inputs: inputs.get(name) })).toEqual(lines)
      }
      await journey.post('stop')
      await w.drain(...JOBS)
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  )
}, 600_000)

/** The attributes of the users, by name. */
async function attributesNow(w: World): Promise<Map<string, Record<string, unknown>>> {
  const rows = await select(w, 'select external_id, data from users where project_id = $1', [w.projectId])
  return new Map(rows.map(({ external_id, data }) => [external_id as string, data as Record<string, unknown>]))
}

/** Events and attributes, which come alone or several at a time; between them minutes, hours or days pass, without anything applied late. */
async function month(w: World, pick: Pick): Promise<Map<string, OracleInput[]>> {
  const inputs = new Map(USERS.map((name): [string, OracleInput[]] => [name, []]))
  for (let item = 0; item < ITEMS; item++) {
    const external_id = USERS[pick(USERS.length)] as string
    const at = w.clock.now()
    if (pick(5) === 0) {
      // A request writes attributes at once, before what is queued is applied.
      await w.drain(...JOBS)
      const plan = pick(2) === 0 ? 'pro' : 'free'
      await w.post('/api/client/users/batch', [{ external_id, data: { plan } }])
      inputs.get(external_id)?.push({ at, plan })
    } else {
      const event = { name: EVENT_NAMES[pick(EVENT_NAMES.length)] as string, data: { total: pick(100), cart: `c-${pick(3)}` } }
      await w.post('/api/client/events', [{ ...event, external_id }])
      inputs.get(external_id)?.push({ at, event })
    }
    if (pick(4) === 0) continue
    await w.drain(...JOBS)
    await passTo(w, new Date(w.clock.now().getTime() + 1 + pick(60_000)))
    await passTo(w, new Date(w.clock.now().getTime() + (PAUSES_MS[pick(PAUSES_MS.length)] as number) * (1 + pick(2))))
  }
  await w.drain(...JOBS)
  return inputs
}

/** Moves the clock from one timer to the next, so that none is late. */
async function passTo(w: World, until: Date): Promise<void> {
  for (;;) {
    const [row] = await select(w, 'select min(due_at) as at from journey_timers where project_id = $1', [w.projectId])
    const at = row?.at as Date | null
    if (at === null || at === undefined || at > until) break
    w.clock.set(new Date(Math.max(at.getTime(), w.clock.now().getTime())))
    await w.drain(...JOBS)
  }
  w.clock.set(until)
}

const lineOf = (user: number, { step, path, reason, arrived_at, left_at }: any) =>
  `${user} ${step} ${path} ${reason} ${arrived_at} ${left_at}`

/** The visits of each user, live and in a backtest. Balancers are not compared, because their places depend on all users. */
async function expectSame(w: World, journey: JourneyClient, graph: GrownGraph, since: string): Promise<void> {
  w.advance(1)
  const { body, status, text } = await journey.post('backtest', { version: 1, since })
  expect(status, text).toBe(202)
  await w.drain('journeys.backtest')
  const { state, result } = await journey.get(`backtests/${body.id}`)
  expect(state).toBe('finished')
  await w.delete(`${journey.path}/backtests/${body.id}`)
  await select(w, 'delete from journey_backtests where project_id = $1', [w.projectId])
  // Nor are schedules, which this clock passes late.
  if (Object.values(graph).some(({ type, data }) => type === 'balancer' || data.trigger === 'schedule')) return
  const live = await trails(w, journey)
  const tested = result.examples.flatMap(({ user_id, visits }: any) => visits.map((visit: object) => lineOf(user_id, visit)))
  const cut = (lines: string[]) => [...Map.groupBy(lines, (line) => line.split(' ')[0])].flatMap(([, own]) => own.slice(0, 20))
  expect(cut(tested), JSON.stringify(graph)).toEqual(cut(live))
}

/** The visits of all users in the order of their entrances. */
async function trails(w: World, journey: JourneyClient): Promise<string[]> {
  const rows = await select(
    w,
    `select user_id, entered_at, entrance_id, trail from journey_entrances where project_id = $1 and journey_id = $2
     union all select user_id, entered_at, entrance_id, trail from journey_past where project_id = $1 and journey_id = $2
     order by user_id, entered_at, entrance_id`,
    [w.projectId, journey.id],
  )
  return rows.flatMap(({ user_id, trail }) => trailOf(trail as StoredTrail).map((visit) => lineOf(Number(user_id), visit)))
}

/** The invariants of the tables. */
async function expectSums(w: World, journey: JourneyClient): Promise<void> {
  const none = async (statement: string) => expect(await select(w, statement, [w.projectId, journey.id]), statement).toEqual([])
  // Who is inside has a timer, or is parked; and a timer belongs to an entrance.
  await none(`select e.entrance_id from journey_entrances e
              left join journey_timers t on t.project_id = e.project_id and t.journey_id = e.journey_id and t.user_id = e.user_id
                and t.entrance_id = e.entrance_id and t.due_at = e.due_at and t.visit = e.visit
              where e.project_id = $1 and e.journey_id = $2 and (t.due_at is null) and e.parked is null and not e.is_held`)
  await none(`select t.entrance_id from journey_timers t
              left join journey_entrances e on e.project_id = t.project_id and e.user_id = t.user_id and e.entrance_id = t.entrance_id
                and e.due_at = t.due_at
              where t.project_id = $1 and t.journey_id = $2 and e.entrance_id is null`)
  await none(`select user_id from journey_users where project_id = $1 and journey_id = $2 and entered <> active + completed + exited`)
  await none(`select u.user_id from journey_users u
              where u.project_id = $1 and u.journey_id = $2 and u.active <>
                (select count(*) from journey_entrances e where e.project_id = $1 and e.journey_id = $2 and e.user_id = u.user_id)`)
  // A parked entrance would be a fault of ours.
  await none(`select entrance_id, parked from journey_entrances where project_id = $1 and journey_id = $2 and parked is not null`)
  // Arrivals are departures and those who are there, for each step.
  await none(`select step_id from journey_counts where project_id = $1 and journey_id = $2 and what in ('arrived', 'left') group by step_id
              having sum(case what when 'arrived' then users else -users end) <>
                (select count(*) from journey_entrances e where e.project_id = $1 and e.journey_id = $2 and e.step_id = journey_counts.step_id)`)
  await none(`select what from (
                select sum(users) filter (where what = 'entered') as entered, sum(users) filter (where what = 'completed') as completed,
                       sum(users) filter (where what = 'exited') as exited, max(what) as what
                from journey_counts where project_id = $1 and journey_id = $2) c,
                (select coalesce(sum(entered), 0) as all_entered, coalesce(sum(completed), 0) as all_completed, coalesce(sum(exited), 0) as all_exited
                 from journey_users where project_id = $1 and journey_id = $2) u
              where coalesce(entered, 0) <> all_entered or coalesce(completed, 0) <> all_completed or coalesce(exited, 0) <> all_exited`)
}
