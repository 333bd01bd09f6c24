/** The users that result do not depend on the endpoint, the order of merges or concurrency. `IDENTITY_SEED` sets the seed. */
import fc from 'fast-check'
import { request } from 'undici'
import { expect, test, vi } from 'vitest'
import { belowOf, seedFrom } from '../random.ts'
import { rowsOf } from '../statements.ts'
import { type Tenant, type World, world } from '../world.ts'
import { startGroup } from './group.ts'
import { allApplied, WAIT } from './load.ts'

const SEED = seedFrom('IDENTITY_SEED')
const ANONYMOUS_USERS = 4

type Endpoint = 'batch' | 'patch' | 'events'
/** Links an anonymous user to Kim. */
type Link = { anonymous: number; endpoint: Endpoint }

const links = fc
  .tuple(
    fc.shuffledSubarray(
      Array.from({ length: ANONYMOUS_USERS }, (_, anonymous) => anonymous),
      { minLength: ANONYMOUS_USERS },
    ),
    fc.array(fc.constantFrom<Endpoint>('batch', 'patch', 'events'), { minLength: ANONYMOUS_USERS, maxLength: ANONYMOUS_USERS }),
    // After which links the ingest queue is applied.
    fc.array(fc.boolean(), { minLength: ANONYMOUS_USERS, maxLength: ANONYMOUS_USERS }),
  )
  .map(([order, endpoints, drains]) =>
    order.map((anonymous, at) => ({ anonymous, endpoint: endpoints[at] as Endpoint, drain: drains[at] === true })),
  )

test('anonymous users are identified in any order, by any endpoint, with the same result', {
  timeout: 120_000,
}, async () => {
  await using w = await world()
  let first: unknown
  await fc.assert(
    fc.asyncProperty(links, async (linked) => {
      const outcome = await outcomeOf(w, await w.other(), linked)
      first ??= outcome
      expect(outcome).toEqual(first)
    }),
    { numRuns: 12, seed: SEED },
  )
})

async function outcomeOf(w: World, { keys }: Tenant, linked: (Link & { drain: boolean })[]): Promise<unknown> {
  const key = keys.secret
  const [type] = (await w.get('/api/client/subscriptions', { key })).body.results
  const rule = { event: 'viewed', exactly: ANONYMOUS_USERS + 1 }
  const list = (await w.post('/api/client/lists', { name: 'Viewed', type: 'dynamic', rule }, { key })).body
  const staticList = (await w.post('/api/client/lists', { name: 'Static', type: 'static' }, { key })).body
  const anonymous = Array.from({ length: ANONYMOUS_USERS }, (_, at) => at)
  await w.post(
    '/api/client/events',
    anonymous.map((at) => ({ anonymous_id: `visitor-${at}`, name: 'viewed', user: { data: { [`seen_${at}`]: at, every: 1 } } })),
    { key },
  )
  await w.post('/api/client/events', [{ external_id: 'kim', name: 'viewed', user: { data: { own: true } } }], { key })
  await w.drain()
  await w.post(`/api/client/lists/${staticList.id}/users`, { external_ids: ['visitor-1', 'visitor-2'] }, { key })
  await w.patch('/api/client/users/visitor-3/subscriptions', [{ subscription_id: type.id, state: 0 }], { key })
  for (const { anonymous, endpoint, drain } of linked) {
    const item = { external_id: 'kim', anonymous_id: `visitor-${anonymous}` }
    if (endpoint === 'batch') await w.post('/api/client/users/batch', [item], { key })
    else if (endpoint === 'patch') await w.patch('/api/client/users', [item], { key })
    else await w.post('/api/client/events', [{ ...item, name: 'linked' }], { key })
    if (drain) await w.drain()
  }
  await w.drain()
  const kim = (await w.get('/api/client/users/kim', { key })).body
  const { results: users } = (await w.get('/api/client/users', { key })).body
  const { results: events } = (await w.get('/api/client/users/kim/events?limit=100', { key })).body
  const { results: states } = (await w.get('/api/client/users/kim/subscriptions', { key })).body
  const count = async (id: number) => (await w.get(`/api/client/lists/${id}`, { key })).body.users_count
  return {
    data: kim.data,
    users: users.length,
    viewed: events.filter(({ name }: { name: string }) => name === 'viewed').length,
    state: states[0].state,
    lists: [await count(list.id), await count(staticList.id)],
  }
}

const USERS = 12
const CALLS = 240

test('the same users by batch, PATCH and events at once, on two servers: no request fails, and every user exists once', {
  timeout: 180_000,
}, async () => {
  await using group = await startGroup(['all', 'all'])
  const below = belowOf(SEED)
  const refused: string[] = []
  let events = 0
  const call = async (index: number) => {
    const user = below(USERS)
    const ids = [
      { external_id: `person-${user}` },
      { anonymous_id: `visitor-${user}` },
      { external_id: `person-${user}`, anonymous_id: `visitor-${user}` },
    ]
    // Several users in one request, in any order, so that requests lock the same rows in different orders.
    const items = Array.from({ length: 1 + below(4) }, (_, at) => {
      const other = (user + at * (1 + below(3))) % USERS
      const given = ids[below(3)] as Record<string, string>
      return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, value.replace(/\d+/, String(other))]))
    })
    const endpoint = (['batch', 'patch', 'events'] as const)[below(3)] as Endpoint
    if (endpoint === 'events') events += items.length
    const [method, path, body] = {
      batch: ['POST', 'users/batch', items.map((item) => ({ ...item, data: { call: index } }))] as const,
      patch: ['PATCH', 'users', items.map((item) => ({ ...item, data: { call: index } }))] as const,
      events: ['POST', 'events', items.map((item, at) => ({ ...item, name: 'counted', data: { id: `${index}-${at}` } }))] as const,
    }[endpoint]
    const url = group.urls[index % group.urls.length]
    const headers = { authorization: `Bearer ${group.key}`, 'content-type': 'application/json' }
    const reply = await request(`${url}/api/client/${path}`, { method, headers, body: JSON.stringify(body) })
    const text = await reply.body.text()
    if (reply.statusCode >= 300 || (endpoint === 'batch' && JSON.parse(text).failed > 0)) refused.push(`${reply.statusCode} ${text}`)
  }
  let next = 0
  const caller = async () => {
    for (let index = next++; index < CALLS; index = next++) await call(index)
  }
  await Promise.all(Array.from({ length: 12 }, caller))
  // At the end, all ids are linked.
  const headers = { authorization: `Bearer ${group.key}`, 'content-type': 'application/json' }
  const all = Array.from({ length: USERS }, (_, at) => ({ external_id: `person-${at}`, anonymous_id: `visitor-${at}` }))
  await allApplied(group.databaseUrl)
  await (await request(`${group.urls[0]}/api/client/users/batch`, { method: 'POST', headers, body: JSON.stringify(all) })).body.text()
  await allApplied(group.databaseUrl)
  const about = `IDENTITY_SEED=${SEED}`
  const errors = group.servers.map((server) =>
    server
      .log()
      .split('\n')
      .filter((line) => line.includes('"level":"error"'))
      .join('\n'),
  )
  expect(refused, `${about} ${errors.join()}`).toEqual([])
  await vi.waitFor(async () => {
    const users = await rowsOf(group.databaseUrl, 'select external_id, anonymous_id from users where merged_into is null order by id')
    expect(users.toSorted(byName), about).toEqual(all.toSorted(byName))
  }, WAIT)
  const [stored] = await rowsOf<{ count: number; orphans: number }>(
    group.databaseUrl,
    `select count(*)::int as count, count(*) filter (where not exists (
        select 1 from users u join users s on s.id = coalesce(u.merged_into, u.id) and s.merged_into is null where u.id = e.user_id))::int as orphans
     from events e where name = 'counted'`,
  )
  expect(stored, about).toEqual({ count: events, orphans: 0 })
  expect(await rowsOf(group.databaseUrl, 'select reason from parked_items'), about).toEqual([])
})

const byName = (a: unknown, b: unknown) => JSON.stringify(a).localeCompare(JSON.stringify(b))
