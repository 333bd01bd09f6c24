/** The processes on a database share the batches of a large project. */
import { Type } from 'typebox'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { holdAt } from '../../../test/fault-points.ts'
import { select } from '../../../test/select.ts'
import { SOON } from '../../../test/wait.ts'
import { type World, world } from '../../../test/world.ts'
import { applyAcceptedRequests } from '../../batches.ts'
import { type Database, openDatabase, raw, sql } from '../postgres/db.ts'
import { type Ctx, inTx } from '../runtime/ctx.ts'
import { appendAll } from './append.ts'
import { countWorkers } from './other-processes.ts'
import { beginPartition, divisionOf, openBatchPlan, takePartition } from './partitions.ts'

const USERS = 60
const EVENTS = 1200

let w: World
/** Two processes on the same database, and what makes each known to the other. */
let processes: { db: Database; ctx: Ctx }[]
let known: Database[]
beforeAll(async () => {
  w = await world({ own: true })
  const open = (name: string) => openDatabase({ url: w.databaseUrl, connectionsMax: 12, name, checkRows: true })
  processes = [0, 1].map(() => open('test')).map((db) => ({ db, ctx: { ...w.ctx, db } }))
  known = [0, 1].map((number) => open(`listen jobs ${number}`))
})
afterAll(async () => {
  for (const { db } of processes) await db[Symbol.asyncDispose]()
  for (const db of known) await db[Symbol.asyncDispose]()
  await w[Symbol.asyncDispose]()
})

/** Appends requests of a hundred events of all users in turn, numbered. One of them can be one that this release cannot read. */
const fill = (unreadable?: number) =>
  appendAll(
    w.db,
    Array.from({ length: EVENTS / 100 }, (_, request) => ({
      projectId: w.projectId,
      kind: 'events',
      userId: null,
      requestId: 'req_test',
      receivedAt: w.clock.now(),
      items: 100,
      body: Buffer.from(
        JSON.stringify(
          Array.from({ length: 100 }, (_, item) => {
            const seq = request * 100 + item
            const event = { name: 'numbered', external_id: `person-${seq % USERS}`, data: { seq }, user: { data: { seq } } }
            return seq === unreadable ? { ...event, external_id: '' } : event
          }),
        ),
      ),
    })),
  )

const applyToEnd = async (process: number) => {
  const { finished } = await applyAcceptedRequests((processes[process] as { ctx: Ctx }).ctx)
  await finished
}

/** The numbers of the events of each user, and the last one that the user has. */
const numbers = () =>
  select(
    w,
    `select array_agg((e.data->>'seq')::int) as seqs, max((u.data->>'seq')::int) as last
     from events e join users u on u.project_id = e.project_id and u.id = e.user_id
     where e.project_id = $1 and e.name = 'numbered' group by u.id`,
    [w.projectId],
  ) as Promise<{ seqs: number[]; last: number }[]>

const positions = async () =>
  (await select(w, 'select position from queue_entries where project_id = $1 order by position', [w.projectId])).map(
    ({ position }) => position as number,
  )

const waiting = sql`select count(*) from pg_locks where locktype = 'advisory' and not granted
                    and database = (select oid from pg_database where datname = current_database())`
const waits = (count: number) => vi.waitFor(async () => expect(await w.db.value(Type.Integer(), waiting)).toBe(count), SOON)

test('two processes apply partitions of one batch at the same time; each event is stored once, and those of a user in order', async () => {
  for (const table of ['events', 'queue_batches', 'queue_entries']) await w.db.run(sql`delete from ${raw(table)}`)
  await fill()
  const running: Promise<void>[] = []
  // Nothing is still applied when the test is repeated.
  await using _ = { [Symbol.asyncDispose]: async () => void (await Promise.allSettled(running)) }
  // Partition 0 passes; the others are held.
  await using held = await holdAt(w.databaseUrl, 'between partitions')
  // A batch is divided by the number of processes whose connections are open when the leader counts them.
  for (const db of known) await db.run(sql`select 1`)
  await vi.waitFor(async () => expect(await countWorkers(w.ctx)).toBe(2), SOON)
  running.push(applyToEnd(0))
  await waits(3)
  running.push(applyToEnd(1))
  // A process applies three at a time.
  await waits(5)
  await held.release()
  await Promise.all(running)
  const found = await numbers()
  expect(found).toHaveLength(USERS)
  expect(found.flatMap(({ seqs }) => seqs).toSorted((a, b) => a - b)).toEqual(Array.from({ length: EVENTS }, (_, seq) => seq))
  for (const { seqs, last } of found) expect(last).toBe(Math.max(...seqs))
  expect(await w.db.value(Type.Integer(), sql`select count(*) from queue_entries`)).toBe(0)
  expect(await w.db.value(Type.Integer(), sql`select count(*) from queue_batches`)).toBe(0)
})

test('of events with one id in several partitions, one is applied, and the others change no user', async () => {
  await w.db.run(sql`delete from events`)
  await appendAll(
    w.db,
    Array.from({ length: EVENTS / 100 }, (_, request) => ({
      projectId: w.projectId,
      kind: 'events',
      userId: null,
      requestId: 'req_test',
      receivedAt: w.clock.now(),
      items: 100,
      body: Buffer.from(
        JSON.stringify(
          Array.from({ length: 100 }, (_, item) => ({
            name: 'repeated',
            event_id: 'once',
            external_id: `guest-${request * 100 + item}`,
            user: { data: { seq: item } },
          })),
        ),
      ),
    })),
  )
  await Promise.all([applyToEnd(0), applyToEnd(1)])
  expect(await positions()).toEqual([])
  expect(await select(w, `select external_id from users where project_id = $1 and external_id like 'guest-%'`, [w.projectId])).toHaveLength(
    1,
  )
  expect(await select(w, `select name from events where project_id = $1 and name = 'repeated'`, [w.projectId])).toHaveLength(1)
})

test('a process that reads other items than the leader did applies none of them', async () => {
  await w.db.run(sql`delete from events`)
  await fill()
  // As if the leader could not read the first item.
  const keys = Array.from({ length: EVENTS - 1 }, (_, item) => [`person-${(item + 1) % USERS}`])
  await openBatchPlan(w.ctx, w.projectId, await positions(), divisionOf(keys, [], 6))
  await w.db.transaction(async (db) => {
    await db.run(sql`select pg_advisory_xact_lock(hashtextextended('accepted requests', ${w.projectId}))`)
    await applyToEnd(1)
  })
  expect(await numbers()).toEqual([])
  expect(await w.db.value(Type.Integer(), sql`select count(*) from queue_partitions`)).toBe(0)
})

const empty = async () => {
  for (const table of ['events', 'queue_batches', 'queue_entries', 'parked_items']) await w.db.run(sql`delete from ${raw(table)}`)
}
const keysOfUsers = Array.from({ length: EVENTS }, (_, item) => [`person-${item % USERS}`])
const all = Array.from({ length: EVENTS }, (_, seq) => seq)

test.each([
  ['that is not applied, parks it', 17, 1],
  ['that is applied, does not park it', 18, 0],
])(
  'a leader that takes over from another release, and cannot read an item of a partition %s; each other item is applied once',
  async (_, unreadable, parked) => {
    await empty()
    await fill(unreadable)
    const plan = await openBatchPlan(w.ctx, w.projectId, await positions(), divisionOf(keysOfUsers, [], 6))
    for (const partition of [0, 1]) expect(await inTx(w.ctx, (ctx) => beginPartition(ctx, w.projectId, plan.id, partition))).toBe(true)
    await applyToEnd(0)
    const applied = (await numbers()).flatMap(({ seqs }) => seqs).toSorted((a, b) => a - b)
    expect(applied).toEqual(all.filter((seq) => (seq % USERS) % 6 > 1 && seq !== unreadable))
    expect(await w.db.value(Type.Integer(), sql`select count(*) from parked_items`)).toBe(parked)
    expect(await positions()).toEqual([])
  },
)

test('a leader takes over a batch of the release before, whose plan does not count what both cannot read', async () => {
  await empty()
  await fill(17)
  const read = keysOfUsers.filter((_, seq) => seq !== 17)
  await openBatchPlan(w.ctx, w.projectId, await positions(), divisionOf(read, [], 6))
  await applyToEnd(0)
  expect((await numbers()).flatMap(({ seqs }) => seqs).toSorted((a, b) => a - b)).toEqual(all.filter((seq) => seq !== 17))
  expect(await w.db.value(Type.Integer(), sql`select count(*) from parked_items`)).toBe(1)
})

test('the leader waits for the partition of another process, and applies it when that one dies', async () => {
  await empty()
  await fill()
  const plan = await openBatchPlan(w.ctx, w.projectId, await positions(), divisionOf(keysOfUsers, [], 6))
  const [isTaken, die] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const other = inTx(w.ctx, async (ctx) => {
    await takePartition(ctx, ctx.projectId, plan)
    isTaken.resolve()
    await die.promise
    throw new Error('died')
  })
  await isTaken.promise
  const leads = applyToEnd(0)
  const blocked = sql`select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await vi.waitFor(async () => expect(await w.db.value(Type.Integer(), blocked)).toBe(1), SOON)
  expect(await numbers()).toHaveLength((USERS / 6) * 5)
  die.resolve()
  await expect(other).rejects.toThrow('died')
  await leads
  expect((await numbers()).flatMap(({ seqs }) => seqs)).toHaveLength(EVENTS)
})

test('a process that another one forestalls at a partition takes the next one', async () => {
  await empty()
  await fill()
  const plan = await openBatchPlan(w.ctx, w.projectId, await positions(), divisionOf(keysOfUsers, [], 6))
  const blocked = sql`select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  let taken: Promise<number | undefined> = Promise.resolve(undefined)
  await w.db.transaction(async (db) => {
    await db.run(sql`select from queue_batches where id = ${plan.id} for update`)
    taken = inTx(w.ctx, (ctx) => takePartition(ctx, ctx.projectId, plan))
    await vi.waitFor(async () => expect(await w.db.value(Type.Integer(), blocked)).toBe(1), SOON)
    await db.run(sql`insert into queue_partitions (project_id, batch_id, partition) values (${w.projectId}, ${plan.id}, 0)`)
  })
  expect(await taken).toBe(1)
})

test('a batch that was begun with other items than are read, and of which no partition is applied, is divided anew', async () => {
  await empty()
  await fill()
  await openBatchPlan(w.ctx, w.projectId, await positions(), divisionOf(keysOfUsers.slice(1), [], 6))
  // First the plan is closed, and then the batch is claimed anew.
  for (const _ of [1, 2]) await applyToEnd(0)
  const found = await numbers()
  expect(found.flatMap(({ seqs }) => seqs).toSorted((a, b) => a - b)).toEqual(all)
  for (const { seqs, last } of found) expect(last).toBe(Math.max(...seqs))
  expect(await positions()).toEqual([])
})

test('a batch that was begun with other items than are read is not divided anew while another process applies a partition, or once it has', async () => {
  await empty()
  await fill()
  const plan = await openBatchPlan(w.ctx, w.projectId, await positions(), divisionOf(keysOfUsers.slice(1), [], 6))
  const [isTaken, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const other = inTx(w.ctx, async (ctx) => {
    await takePartition(ctx, ctx.projectId, plan)
    isTaken.resolve()
    await mayEnd.promise
  })
  await isTaken.promise
  const leads = applyToEnd(0)
  const refused = expect(leads).rejects.toThrow(`Batch ${plan.id} was begun with ${EVENTS - 1} items`)
  const blocked = sql`select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await vi.waitFor(async () => expect(await w.db.value(Type.Integer(), blocked)).toBe(1), SOON)
  mayEnd.resolve()
  await other
  await refused
  expect(await numbers()).toEqual([])
  expect(await positions()).toHaveLength(EVENTS / 100)
})

test('a leader that has lost its lock before its plan can be seen applies nothing that another process has applied', async () => {
  await empty()
  await fill()
  const { db, ctx } = processes[0] as { db: Database; ctx: Ctx }
  const loseLock = async () => {
    await w.db.run(
      sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
    )
    await vi.waitFor(async () => {
      await applyToEnd(1)
      expect(await positions()).toEqual([])
    }, SOON)
  }
  const late: Database = {
    ...db,
    async one(row, statement) {
      if (statement.strings.some((text) => text.includes('insert into queue_batches'))) await loseLock()
      return db.one(row, statement)
    },
  }
  const { finished } = await applyAcceptedRequests({ ...ctx, db: late })
  await Promise.allSettled([finished])
  const stored = async () => (await numbers()).flatMap(({ seqs }) => seqs).toSorted((a, b) => a - b)
  expect(await stored()).toEqual(all)
  // Its plan does not stay in the way.
  await fill()
  for (const _ of [1, 2]) await applyToEnd(1)
  expect(await stored()).toEqual(all.flatMap((seq) => [seq, seq]))
  expect(await w.db.value(Type.Integer(), sql`select count(*) from queue_batches`)).toBe(0)
})
