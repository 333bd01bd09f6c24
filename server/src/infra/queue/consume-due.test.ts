/** Which projects are applied when, with the requests that the server accepts. What was applied is read from the events. */
import { Type } from 'typebox'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { DISK_FULL, failSaves, OUT_OF_MEMORY } from '../../../test/failing-saves.ts'
import { type Tenant, type World, world } from '../../../test/world.ts'
import { applyAcceptedRequests } from '../../batches.ts'
import { type Database, openDatabase, sql } from '../postgres/db.ts'
import type { Ctx } from '../runtime/ctx.ts'
import { type AcceptedRequest, appendAll } from './append.ts'

/** More than two batches of a project that is applied beside others. */
const LARGE = 3000

let w: World
/** Two processes on the same database. */
let processes: { db: Database; ctx: Ctx }[]
let statements = 0
let tenants: Tenant[]

beforeAll(async () => {
  w = await world()
  processes = [0, 1].map(() => {
    const db = openDatabase({ url: w.databaseUrl, connectionsMax: 12, name: 'test', checkRows: true, onStatement: () => statements++ })
    return { db, ctx: { ...w.ctx, db } }
  })
  tenants = []
  for (let count = 0; count < 21; count++) tenants.push(await w.other())
  await w.drain()
})
afterAll(async () => {
  for (const { db } of processes) await db[Symbol.asyncDispose]()
  await w[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await w.db.run(sql`delete from events`)
})

const ctxOf = (process: number): Ctx => (processes[process] as { ctx: Ctx }).ctx
const some = (from: number, to: number): Tenant[] => tenants.slice(from, to)
const first = (): Tenant => tenants[0] as Tenant

/** Appends a request of events of one user to the queue of each of these projects. */
const send = (to: Tenant[], names: string[]) =>
  appendAll(
    w.db,
    to.map((tenant) => requestOf(tenant, names)),
  )

const requestOf = ({ projectId }: Tenant, names: string[]): AcceptedRequest => ({
  projectId,
  kind: 'events',
  userId: null,
  requestId: 'req_test',
  receivedAt: w.clock.now(),
  items: names.length,
  body: Buffer.from(JSON.stringify(names.map((name) => ({ name, external_id: 'kim' })))),
})

/** Fills the queue of a project with requests of a hundred events. */
const fill = async (to: Tenant, events: number) => {
  for (let from = 0; from < events; from += 100)
    await send(
      [to],
      Array.from({ length: 100 }, (_, at) => `n${from + at}`),
    )
}

const EventRow = Type.Object({ project_id: Type.Integer(), name: Type.String(), transaction: Type.String() })
const applied = async (of: Tenant[]) => {
  const ids = of.map(({ projectId }) => projectId)
  return w.db.many(
    EventRow,
    sql`select project_id, name, xmin::text as transaction from events where project_id = any(${ids}::bigint[]) and name <> 'user_created' order by project_id, name`,
  )
}
const namesOf = async (...of: Tenant[]) => (await applied(of)).map(({ name }) => name)

const waitingOf = (of: Tenant[]) => {
  const ids = of.map(({ projectId }) => projectId)
  return w.db.value(Type.Integer(), sql`select count(*) from queue_entries where project_id = any(${ids}::bigint[])`)
}

/** One run of the job. Its large backlogs may take longer: `finished`. */
const apply = (process = 0) => applyAcceptedRequests(ctxOf(process))
const applyToEnd = async (process = 0) => {
  const { done, finished } = await apply(process)
  await finished
  return done
}
const applyAll = async (process = 0) => {
  while ((await applyToEnd(process)) > 0);
}

/** Holds a lock of a project until it is released. */
async function hold(lock: 'accepted requests' | 'lists of a project', { projectId }: Tenant) {
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = w.db.transaction(async (db) => {
    await db.run(sql`select pg_advisory_xact_lock(hashtextextended(${lock}, ${projectId}))`)
    locked.resolve()
    await released.promise
  })
  await locked.promise
  return async () => {
    released.resolve()
    await holding
  }
}

describe('projects with small backlogs', () => {
  test('are applied in one transaction, with as many statements for twenty as for three', async () => {
    const statementsFor = async (to: Tenant[], name: string) => {
      await send(to, [name])
      statements = 0
      expect(await applyToEnd()).toBe(to.length)
      return statements
    }
    // At first users are created, and then their ids are cached.
    for (const name of ['first', 'second']) {
      await statementsFor(some(0, 20), name)
      await w.drain()
    }
    const few = await statementsFor(some(0, 3), 'few')
    const many = await statementsFor(some(0, 20), 'many')
    expect(many).toBe(few)
    expect(many).toBeLessThan(30)
    const rows = await applied(some(0, 20))
    for (const [name, projects] of Object.entries({ first: 20, second: 20, few: 3, many: 20 })) {
      const written = rows.filter((row) => row.name === name)
      expect(written).toHaveLength(projects)
      expect(new Set(written.map(({ transaction }) => transaction)).size).toBe(1)
    }
  })

  test('are each applied once when an item of one of them cannot be applied, and only that item is parked', async () => {
    await w.db.run(sql`alter table events add constraint no_poison check (name <> ${sql`'poison'`}) not valid`)
    try {
      await send(some(0, 10), ['a', 'b'])
      await send([first()], ['c', 'poison', 'd'])
      await send([first()], ['e'])
      await applyAll()
    } finally {
      await w.db.run(sql`alter table events drop constraint no_poison`)
    }
    expect(await namesOf(first())).toEqual(['a', 'b', 'c', 'd', 'e'])
    for (const tenant of some(1, 10)) expect(await namesOf(tenant)).toEqual(['a', 'b'])
    const Parked = Type.Object({ project_id: Type.Integer(), name: Type.String() })
    expect(await w.db.many(Parked, sql`select project_id, item->>'name' as name from parked_items`)).toEqual([
      { project_id: first().projectId, name: 'poison' },
    ])
  })

  test('do not wait for one whose lists are locked, which is applied when they are free', async () => {
    const release = await hold('lists of a project', first())
    await send(some(0, 10), ['a'])
    const { finished } = await apply()
    // The lock is still held.
    expect(await namesOf(...some(0, 10))).toHaveLength(9)
    expect(await namesOf(first())).toEqual([])
    await send(some(0, 10), ['b'])
    await apply()
    expect(await namesOf(...some(1, 10))).toHaveLength(18)
    expect(await namesOf(first())).toEqual([])
    await release()
    await finished
    await applyAll()
    expect(await namesOf(first())).toEqual(['a', 'b'])
    expect(await waitingOf(tenants)).toBe(0)
  })
})

test('a small backlog that was applied after a failure is tried again as soon after the next failure', async () => {
  w.advance('1 minute')
  const failing = () => failSaves({ ...w, ...first() }, { table: 'events', on: 'insert', when: 'true', code: OUT_OF_MEMORY })
  for (const name of ['a', 'b', 'c']) {
    await send([first()], [name])
    {
      await using _ = await failing()
      await expect(applyToEnd()).rejects.toThrow('It fails.')
    }
    w.advance(499)
    expect(await applyToEnd()).toBe(0)
    w.advance(1)
    expect(await applyToEnd()).toBe(1)
  }
  expect(await namesOf(first())).toEqual(['a', 'b', 'c'])
})

describe('a project with a large backlog', () => {
  test('is applied beside others: theirs are applied while it still waits', async () => {
    const [large, ...others] = tenants as [Tenant, ...Tenant[]]
    await fill(large, LARGE)
    await send(others, ['a'])
    const { done, finished } = await apply()
    expect(done).toBe(others.length + 1)
    expect(await waitingOf(others)).toBe(0)
    await finished
    expect(await waitingOf([large])).toBeGreaterThan(0)
    await send(others, ['b'])
    const second = await apply()
    expect(await waitingOf(others)).toBe(0)
    await second.finished
    expect(await waitingOf([large])).toBeGreaterThan(0)
    await applyAll()
    const names = await namesOf(large)
    expect([names.length, new Set(names).size]).toEqual([LARGE, LARGE])
    for (const tenant of others) expect(await namesOf(tenant)).toEqual(['a', 'b'])
  })

  test('rests for twice as long as its last batch took while others have events, and not longer', async () => {
    const [large, ...others] = tenants as [Tenant, ...Tenant[]]
    const batchOfASecond = async () => {
      const release = await hold('lists of a project', large)
      const { finished } = await apply()
      await expect.poll(() => locksOf(large)).toBe(1)
      w.clock.advance(1000)
      await release()
      await finished
    }
    await fill(large, 3 * LARGE)
    await send(others, ['a'])
    await batchOfASecond()
    for (const [waitedMs, started] of [
      [0, 0],
      [1999, 0],
      [1, 1],
    ] as const) {
      w.clock.advance(waitedMs)
      await send(others, ['b'])
      expect(await applyToEnd()).toBe(others.length + started)
    }
    await batchOfASecond()
    // Nobody else has events.
    expect(await applyToEnd()).toBe(1)
    await batchOfASecond()
    w.clock.advance(-5000)
    await send(others, ['c'])
    expect(await applyToEnd()).toBe(others.length + 1)
    await applyAll()
    expect(await namesOf(large)).toHaveLength(3 * LARGE)
  })

  test.each([
    { events: 300, code: DISK_FULL },
    { events: 300, code: OUT_OF_MEMORY },
    { events: 1000, code: OUT_OF_MEMORY },
  ])(
    'of $events that fails with $code is tried again after twice as long each time, while others are applied',
    async ({ events, code }) => {
      w.advance('1 minute')
      await fill(first(), events)
      const failures = async () => {
        let count = 0
        for (let run = 0; run < 3; run++) await applyToEnd().catch(() => count++)
        return count
      }
      {
        await using _ = await failSaves({ ...w, ...first() }, { table: 'events', on: 'insert', when: 'true', code })
        expect(await failures()).toBe(1)
        for (const waitMs of [500, 1000, 2000]) {
          w.advance(waitMs - 1)
          expect(await failures()).toBe(0)
          w.advance(1)
          expect(await failures()).toBe(1)
        }
        await send(some(1, 2), ['a'])
        expect(await failures()).toBe(0)
        expect(await namesOf(...some(1, 2))).toEqual(['a'])
      }
      w.advance('15 seconds')
      await applyAll()
      expect(await namesOf(first())).toHaveLength(events)
    },
  )

  test('that cannot be applied rests until it is tried again, unless a timer of another project is due before', async () => {
    await fill(first(), 300)
    const nextAt = async () => {
      const { done, nextAt } = await apply()
      return { done, nextAt }
    }
    const inMs = (ms: number) => new Date(w.clock.now().getTime() + ms)
    {
      await using _ = await failSaves({ ...w, ...first() }, { table: 'events', on: 'insert', when: 'true', code: DISK_FULL })
      await expect(applyToEnd()).rejects.toThrow()
      expect(await nextAt()).toEqual({ done: 0, nextAt: inMs(500) })
      for (const [tenant, at] of [
        [first(), inMs(-10)],
        [some(1, 2)[0] as Tenant, inMs(200)],
      ] as const)
        await w.db.run(
          sql`insert into journey_timers (project_id, journey_id, due_at, user_id, entrance_id, visit)
              values (${tenant.projectId}, 1, ${at}, 1, 1, 1)`,
        )
      expect(await nextAt()).toEqual({ done: 0, nextAt: inMs(200) })
    }
    await w.db.run(sql`delete from journey_timers`)
    w.advance('15 seconds')
    await applyAll()
    expect(await namesOf(first())).toHaveLength(300)
  })

  test('is applied in a transaction of its own', async () => {
    await fill(first(), 300)
    await send(some(1, 10), ['a'])
    await applyToEnd()
    const transactionsOf = async (of: Tenant[]) => new Set((await applied(of)).map(({ transaction }) => transaction))
    const [own, theirs] = [await transactionsOf([first()]), await transactionsOf(some(1, 10))]
    expect([own.size, theirs.size, own.isDisjointFrom(theirs)]).toEqual([1, 1, true])
  })

  test('of requests with one event each is applied by itself after three full batches', async () => {
    const names = Array.from({ length: 1000 }, (_, at) => `n${at}`)
    await appendAll(
      w.db,
      names.map((name) => requestOf(first(), [name])),
    )
    const done: number[] = []
    while ((await waitingOf([first()])) > 0) done.push(await applyToEnd())
    expect(done).toEqual([200, 200, 200, 1])
    expect(await namesOf(first())).toEqual(names.toSorted())
  })

  test('is applied by one batch at a time, and at most two such projects are', async () => {
    const large = some(0, 3)
    const releases = await Promise.all(large.map((tenant) => hold('lists of a project', tenant)))
    await fill(first(), 300)
    const runs = [await apply(), await apply()]
    for (const tenant of some(1, 3)) await fill(tenant, 300)
    runs.push(await apply(), await apply())
    expect(runs.map(({ done }) => done)).toEqual([1, 0, 1, 0])
    for (const release of releases) await release()
    await Promise.all(runs.map(({ finished }) => finished))
    await applyAll()
    for (const tenant of large) expect(await namesOf(tenant)).toHaveLength(300)
  })
})

describe('two processes', () => {
  test('divide the projects: what one is applying the other leaves, and it applies the rest', async () => {
    const release = await hold('lists of a project', first())
    await send([first()], ['a'])
    const held = await apply(0)
    // It has locked the project and waits for its lists.
    await expect.poll(() => locksOf(first())).toBe(1)
    await send(some(0, 10), ['b'])
    expect(await applyToEnd(1)).toBe(9)
    expect(await namesOf(...some(1, 10))).toEqual(Array.from({ length: 9 }, () => 'b'))
    expect(await namesOf(first())).toEqual([])
    await release()
    await held.finished
    await Promise.all([applyAll(0), applyAll(1)])
    expect(await namesOf(first())).toEqual(['a', 'b'])
  })

  test('apply each request once', async () => {
    const [large, ...others] = tenants as [Tenant, ...Tenant[]]
    await fill(large, LARGE)
    for (const name of ['a', 'b', 'c', 'd', 'e']) await send(others, [name])
    // A process that finds a project locked sees no work, so each looks until nothing waits.
    const work = async (process: number) => {
      while ((await waitingOf(tenants)) > 0) await applyToEnd(process)
    }
    await Promise.all([work(0), work(1)])
    const names = await namesOf(large)
    expect([names.length, new Set(names).size]).toEqual([LARGE, LARGE])
    for (const tenant of others) expect(await namesOf(tenant)).toEqual(['a', 'b', 'c', 'd', 'e'])
  })
})

/** How many transactions have the lock on the queue of a project. */
const locksOf = ({ projectId }: Tenant) =>
  w.db.value(
    Type.Integer(),
    sql`select count(*) from pg_locks, hashtextextended('accepted requests', ${projectId}) as key
        where locktype = 'advisory' and granted and (classid::bigint << 32 | objid::bigint) = key
          and database = (select oid from pg_database where datname = current_database())`,
  )
