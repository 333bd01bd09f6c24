/**
 * A month of everything that can happen to journeys: merges, erasures, publications with plans, moves by hand, lists, links, messages,
 * calls, schedules and clocks that are set, in one project while transactions are killed, and in another one without that. The end is the
 * same, byte for byte. One fixed seed is in the gate; `JOURNEY_STORM_RUNS`, `JOURNEY_STORM_LENGTH` and `JOURNEY_STORM_SEED` try others.
 */
import fc from 'fast-check'
import pg from 'pg'
import { expect, test } from 'vitest'
import { type GraphIds, type GrownGraph, picks, publishableGraphs } from '../journey-graphs.ts'
import { dump, expectInvariants, expectRecount, unwatch, watch } from '../journey-invariants.ts'
import { BROWSERS, behindAll, type Happening, JOURNEYS, planOf, script, USERS, withDelays, withoutChance } from '../journey-storm.ts'
import { createJourney, type JourneyClient } from '../journeys.ts'
import { type World, world } from '../world.ts'

const RUNS = Number(process.env.JOURNEY_STORM_RUNS ?? 1)
const SEED = Number(process.env.JOURNEY_STORM_SEED ?? 20_261_123)
const LENGTH = Number(process.env.JOURNEY_STORM_LENGTH ?? 44)
const KILLED_AFTER_MAX = 30
const STEPS = 8
/** So many kinds of happenings succeed at least once. */
const KINDS_MIN = 12
const JOBS = [
  ...['ingest.apply', 'journeys.call', 'journeys.sweep', 'journeys.check-clock', 'timers.apply', 'users.erase', 'lists.build'],
  ...['messages.send', 'messages.send-timed', 'messages.release', 'campaigns.pending-actions'],
]

test.each(Array.from({ length: RUNS }, (_, run) => SEED + run))(
  'whatever is killed in a month, its end is that of the same month without kills (seed %i)',
  { timeout: 600_000 },
  async (seed) => {
    const happenings = script(fc.sample(picks, { seed, numRuns: 1 })[0] as never, LENGTH)
    const ends: string[][] = []
    for (const isKilled of [true, false]) {
      await using w = await world()
      await using storm = await openStorm(w, seed, isKilled)
      for (const happening of happenings) await storm.apply(happening)
      ends.push(await storm.end())
    }
    expect(ends[0]).toEqual(ends[1])
  },
)

type Sent = { id: string; body: object }
type Storm = {
  w: World
  db: pg.Client
  graphs: GrownGraph[]
  journeys: JourneyClient[]
  ids: GraphIds
  replies: string[]
  last: Sent | null
}

async function openStorm(w: World, seed: number, isKilled: boolean) {
  const db = new pg.Client({ connectionString: w.databaseUrl })
  await db.connect()
  await watch(db, w.projectId)
  w.replaceFetch({ request: async () => ({ is: 'answered', status: 200, headers: {}, body: '{"score":7}', elapsedMs: 1 }) as never })
  const storm: Storm = { w, db, graphs: [], journeys: [], ids: await prepare(w), replies: [], last: null }
  for (let number = 0; number < JOURNEYS; number++) {
    const ids = { ...storm.ids, journeys: storm.journeys.map(({ id }) => id) }
    const [grown] = fc.sample(publishableGraphs(ids, STEPS), { seed: seed + 1000 * number, numRuns: 1 }) as [GrownGraph]
    const graph = withoutChance(behindAll(grown, number, ids))
    const journey = await createJourney(w, { name: `Journey ${number}` }, graph)
    const published = await journey.post('publish')
    expect(published.status, published.text).toBe(200)
    storm.graphs.push(graph)
    storm.journeys.push(journey)
  }
  await w.drain()
  const drain = () => (isKilled ? drainKilled(storm) : w.drain(...JOBS))
  let count = 0
  return {
    async apply(happening: Happening) {
      if (happening.afterMs > 0) {
        await drain()
        w.clock.set(new Date(w.clock.now().getTime() + happening.afterMs))
        await drain()
      }
      if (happening.do === 'erase') await expectRecount(storm)
      storm.replies.push(`${happening.do} ${await happen(storm, happening)}`)
      if (++count % 20 === 0) {
        await drain()
        await expectInvariants(storm)
      }
    },
    async end() {
      await drain()
      await expectInvariants(storm)
      // A month in which hardly anything succeeds would prove nothing.
      const succeeded = new Set(storm.replies.filter((reply) => / 20\d$/.test(reply)).map((reply) => reply.split(' ')[0]))
      expect(succeeded.size, [...succeeded].join()).toBeGreaterThanOrEqual(KINDS_MIN)
      const end = [...storm.replies, ...(await dump(storm))]
      // What is due in this project does not concern the next one.
      for (const table of ['journey_timers', 'journey_sweeps', 'queue_entries'])
        await db.query(`delete from ${table} where project_id = $1`, [w.projectId])
      return end
    },
    async [Symbol.asyncDispose]() {
      await unwatch(db)
      await db.end()
    },
  }
}

/** Two lists, a subscription type, two campaigns, users and browsers. */
async function prepare(w: World): Promise<GraphIds> {
  await w.users(...USERS)
  await w.post(
    '/api/client/events',
    BROWSERS.map((anonymous_id) => ({ name: 'hello', anonymous_id })),
  )
  const idOf = async (path: string, body: object) => (await w.post(`/api/client/${path}`, body)).body.id as number
  const pro = await idOf('lists', { name: 'Pro', type: 'dynamic', rule: { attribute: 'data.plan', is: 'pro' } })
  const chosen = await idOf('lists', { name: 'Chosen', type: 'static' })
  const subscription_id = await idOf('subscriptions', { name: 'News', channel: 'email' })
  const campaigns = []
  for (const name of ['One', 'Two']) {
    const id = await idOf('campaigns', { name, type: 'trigger', channel: 'email', event_name: `never-${name}`, subscription_id })
    await w.put(`/api/client/campaigns/${id}/templates/en`, { subject: name, from: 'a@example.com', html: '<p>{{ user.external_id }}</p>' })
    expect((await w.patch(`/api/client/campaigns/${id}`, { state: 'running' })).status).toBe(200)
    campaigns.push(id)
  }
  await w.drain()
  return { campaigns, lists: [pro, chosen], staticLists: [chosen], subscriptions: [subscription_id], journeys: [] }
}

/** Does it, and returns the status of the reply. */
async function happen(storm: Storm, happening: Happening): Promise<number> {
  const { w, ids } = storm
  const events = async (id: string, body: object) => {
    storm.last = { id, body }
    return (await w.post('/api/client/events', [{ ...body, event_id: id }])).status
  }
  switch (happening.do) {
    case 'event':
      return events(happening.id, { name: happening.name, external_id: happening.user, data: happening.data })
    case 'repeat':
      return storm.last ? events(storm.last.id, storm.last.body) : 0
    case 'late': {
      const created_at = new Date(w.clock.now().getTime() - happening.lateMs).toISOString()
      return events(happening.id, { name: happening.name, external_id: happening.user, data: { total: 60 }, created_at })
    }
    case 'browse':
      return events(happening.id, { name: happening.name, anonymous_id: happening.browser, data: { total: 80, cart: 'c-9' } })
    case 'merge':
      return events(happening.id, { name: 'login', external_id: happening.user, anonymous_id: happening.browser })
    case 'attribute':
      await w.drain('ingest.apply')
      return (await w.post('/api/client/users/batch', [{ external_id: happening.user, data: { plan: happening.plan } }])).status
    case 'list': {
      const path = `/api/client/lists/${ids.staticLists[0]}/users`
      const body = { external_ids: [happening.user] }
      return (await w.request(happening.isIn ? 'POST' : 'DELETE', path, body)).status
    }
    case 'consent': {
      const body = [{ subscription_id: ids.subscriptions[0], state: happening.state }]
      return (await w.patch(`/api/client/users/${happening.user}/subscriptions`, body)).status
    }
    case 'erase':
      return (await w.delete(`/api/client/users/${happening.user}`)).status
    case 'clock':
      w.clock.set(new Date(w.clock.now().getTime() + happening.byMs))
      return 0
    default:
      return onJourney(storm, happening)
  }
}

async function onJourney(storm: Storm, happening: Extract<Happening, { journey: number }>): Promise<number> {
  const { w } = storm
  const journey = storm.journeys[happening.journey] as JourneyClient
  const graph = storm.graphs[happening.journey] as GrownGraph
  switch (happening.do) {
    case 'enter':
      return (await journey.post('entrances', { external_id: happening.user, key: happening.key, data: { total: 70 } })).status
    case 'move':
    case 'skip':
    case 'retry':
    case 'remove':
      return byHand(storm, journey, happening, Object.keys(graph))
    case 'publish': {
      const next = withDelays(graph, happening.hours)
      expect((await journey.put(next)).status).toBe(200)
      storm.graphs[happening.journey] = next
      return (await journey.post('publish', { plan: planOf(next, happening.plans) })).status
    }
    case 'hold':
    case 'resume':
      return (await journey.post(happening.do)).status
    case 'off':
    case 'live':
      return (await w.patch(journey.path, { status: happening.do })).status
    default:
      return happening satisfies never
  }
}

let kills = 0

/** Does it with one of the users who are inside. */
async function byHand(
  { w, db }: Storm,
  { id, path, post }: JourneyClient,
  happening: Extract<Happening, { nth: number }>,
  keys: string[],
): Promise<number> {
  await w.drain('ingest.apply')
  const { rows } = await db.query(
    `select distinct u.external_id from journey_entrances e join users u on u.project_id = e.project_id and u.id = e.user_id
     where e.project_id = $1 and e.journey_id = $2 and u.external_id is not null order by 1`,
    [w.projectId, id],
  )
  const name = rows[happening.nth % rows.length]?.external_id
  if (name === undefined) return 0
  if (happening.do === 'remove') return (await w.delete(`${path}/users/${name}`)).status
  const body = happening.do === 'move' ? { to: keys[happening.to % keys.length] } : {}
  return (await post(`users/${name}/${happening.do}`, body)).status
}

/** Runs all jobs, and again if what they did was killed. */
async function drainKilled({ w, db }: Storm): Promise<void> {
  kills = (kills * 7 + 11) % KILLED_AFTER_MAX
  await db.query(`update storm_kill set target = (select last_value from storm_hits) + $1`, [1 + kills])
  for (let tries = 0; tries < 3; tries++) {
    try {
      await w.drain(...JOBS)
      break
    } catch (error) {
      if ((error as Error).message !== 'killed') throw error
    }
  }
  await db.query('update storm_kill set target = 0')
}
