/**
 * Processes that share the batches of a large project, with the queue and with NATS: whichever of them is killed, each event takes effect
 * once, and those of a user in order.
 */
import pg from 'pg'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ChildServer } from '../child-server.ts'
import { holdAt } from '../fault-points.ts'
import { hasNats, logSettings, type Nats, openNats } from '../nats.ts'
import { rowsOf } from '../statements.ts'
import { type Group, startGroup } from './group.ts'
import { allApplied, WAIT } from './load.ts'

const USERS = 60
const REQUESTS = 12

let nats: Nats
beforeAll(async () => {
  if (hasNats) nats = await openNats()
})
afterAll(() => nats?.[Symbol.asyncDispose]())

/** Sends numbered events of all users in turn. Resolves when they are accepted. */
async function send({ urls, key }: Group, from: number): Promise<void> {
  for (let at = 0; at < REQUESTS; at++) {
    const items = Array.from({ length: 100 }, (_, index) => {
      const seq = from + at * 100 + index
      return { external_id: `person-${seq % USERS}`, name: 'clicked', data: { seq }, user: { data: { seq } } }
    })
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const reply = await request(`${urls[0]}/api/client/events`, { method: 'POST', headers, body: JSON.stringify(items) })
    expect(reply.statusCode, await reply.body.text()).toBe(204)
  }
}

/** Keeps processes from leading the project until everything that was sent is in the queue. */
async function withoutLeader(databaseUrl: string, work: () => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(`select pg_advisory_lock(hashtextextended('accepted requests', id)) from projects`)
  try {
    await work()
    await vi.waitFor(async () => expect(await rowsOf(databaseUrl, 'select position from queue_entries')).toHaveLength(REQUESTS), WAIT)
  } finally {
    await client.end()
  }
}

/** Connections like those of two other workers, so that a process which is alone divides a batch for two at least. */
async function seemingWorkers(connectionString: string): Promise<AsyncDisposable> {
  const clients = [1, 2].map((number) => new pg.Client({ connectionString, application_name: `carillon listen jobs ${number}` }))
  for (const client of clients) await client.connect()
  return {
    async [Symbol.asyncDispose]() {
      for (const client of clients) await client.end()
    },
  }
}

const waitAtLeast = (databaseUrl: string, count: number) =>
  vi.waitFor(async () => {
    const waiting = `select pid from pg_locks where locktype = 'advisory' and not granted
                     and database = (select oid from pg_database where datname = current_database())`
    expect((await rowsOf(databaseUrl, waiting)).length).toBeGreaterThanOrEqual(count)
  }, WAIT)

/** Each event is stored once, and each user has the last of its own. */
async function expectAll(databaseUrl: string, count: number): Promise<void> {
  await allApplied(databaseUrl)
  const [events] = await rowsOf(
    databaseUrl,
    `select count(*)::int as all, count(distinct data->>'seq')::int as different from events where name = 'clicked'`,
  )
  expect(events).toEqual({ all: count, different: count })
  const last = await rowsOf<{ seq: number }>(databaseUrl, `select (data->>'seq')::int as seq from users order by 1`)
  expect(last.map(({ seq }) => seq)).toEqual(Array.from({ length: USERS }, (_, user) => count - USERS + user))
  expect(await rowsOf(databaseUrl, 'select reason from parked_items')).toEqual([])
}

/** A worker leads a batch, and another one applies partitions of it: both are held within theirs. */
async function sharing(group: Group, leader: ChildServer | null, sent: number) {
  await using opening = new AsyncDisposableStack()
  opening.use(await seemingWorkers(group.databaseUrl))
  let leading = leader
  const held = await (async () => {
    let point: Awaited<ReturnType<typeof holdAt>> | undefined
    await withoutLeader(group.databaseUrl, async () => {
      leading ??= await group.start('worker')
      await send(group, sent)
      point = await holdAt(group.databaseUrl, 'between partitions')
    })
    return opening.use(point as NonNullable<typeof point>)
  })()
  // Of six partitions or more the first one passes, and a process applies three at a time.
  await waitAtLeast(group.databaseUrl, 3)
  const helper = await group.start('worker')
  await waitAtLeast(group.databaseUrl, 5)
  const closing = opening.move()
  return {
    leader: leading as unknown as ChildServer,
    helper,
    release: () => held.release(),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

describe.each([
  ['the queue', true],
  ['NATS', hasNats],
] as const)('with %s', (name, canRun) => {
  test.runIf(canRun)(
    'a worker is killed that applies partitions of another, and then the one that leads',
    { timeout: 180_000 },
    async () => {
      await using group = await startGroup(['api'], { env: name === 'NATS' ? logSettings(nats) : {} })
      const first = await (async () => {
        await using both = await sharing(group, null, 0)
        await both.helper.end('SIGKILL')
        await both.release()
        await expectAll(group.databaseUrl, REQUESTS * 100)
        return both.leader
      })()
      await using both = await sharing(group, first, REQUESTS * 100)
      await both.leader.end('SIGKILL')
      await both.release()
      await expectAll(group.databaseUrl, 2 * REQUESTS * 100)
      await both.helper.end('SIGKILL')
    },
  )
})

test.runIf(hasNats)(
  'a worker killed after it has moved requests from NATS, before it has stored how far: another moves each once',
  {
    timeout: 180_000,
  },
  async () => {
    await using group = await startGroup(['api'], { env: logSettings(nats) })
    await send(group, 0)
    await using held = await holdAt(group.databaseUrl, 'between moved requests and position')
    await using mover = await group.start('worker')
    await held.reached()
    await mover.end('SIGKILL')
    await held.release()
    await using _ = await group.start('worker')
    await vi.waitFor(
      async () => expect(await rowsOf(group.databaseUrl, `select from events where name = 'clicked'`)).toHaveLength(REQUESTS * 100),
      WAIT,
    )
    await expectAll(group.databaseUrl, REQUESTS * 100)
  },
)
