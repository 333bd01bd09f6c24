/** Joint functions and joint transactions, on a database of their own. `xmin` is the transaction that wrote a row. */
import { Type } from 'typebox'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createDatabase } from '../../../test/ground.ts'
import { createTestClock } from '../../../test/test-clock.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { type Database, type Db, isSqlState, openDatabase, sql, type TxDb, UNIQUE_VIOLATION } from './db.ts'
import { callRows, type JointCall, joint, jointMany, jointRun, jointViews } from './joint.ts'

const [A, B, C] = [1, 2, 3] as ProjectId[] as [ProjectId, ProjectId, ProjectId]

let db: Database
let view: Db
let statements = 0

beforeAll(async () => {
  const url = await createDatabase()
  db = openDatabase({ url, connectionsMax: 12, name: 'test', checkRows: true, onStatement: () => statements++ })
  await db.run(sql`create table numbers (project_id bigint not null, n int not null, unique (project_id, n))`)
  await db.run(sql`create table sums (project_id bigint primary key, sum int not null)`)
  await db.run(sql`create table checked_late (project_id bigint references sums deferrable initially deferred)`)
})
afterAll(() => db[Symbol.asyncDispose]())
beforeEach(async () => {
  await db.run(sql`delete from numbers`)
  await db.run(sql`delete from sums`)
  await db.run(sql`insert into sums (project_id, sum) select p, 0 from generate_series(1, 3) p`)
  view = jointViews()(db)
  statements = 0
})

const ctxOf = (db: Db) => ({ db, clock: createTestClock() })

const findFrom = jointMany(
  Type.Object({ n: Type.Integer() }),
  (_, calls: JointCall<number>[]) =>
    sql`select q.call, n.n from ${callRows(calls, sql`least int`, (least) => ({ least }))}
        join numbers n on n.project_id = q.project_id and n.n >= q.least order by n.n, q.call desc`,
)
/** The numbers of a project from this one on. */
const numbersFrom = async (db: Db, project: ProjectId, least: number) => (await findFrom(ctxOf(db), project, least)).map(({ n }) => n)

const store = jointRun<number>(({ db }, calls) =>
  db.run(sql`insert into numbers (project_id, n) select q.project_id, q.n from ${callRows(calls, sql`n int`, (n) => ({ n }))}`),
)
const storeIn = (db: Db, project: ProjectId, n: number) => store(ctxOf(db), project, n)

const addTo = (db: Db, project: ProjectId, n: number) => db.run(sql`update sums set sum = sum + ${n}::int where project_id = ${project}`)

const Stored = Type.Object({ project_id: Type.Integer(), n: Type.Integer(), transaction: Type.String() })
const stored = () => db.many(Stored, sql`select project_id, n, xmin::text as transaction from numbers order by project_id, n`)
const pairs = async () => (await stored()).map(({ project_id, n }) => [project_id, n])
const transactions = async () => new Set((await stored()).map(({ transaction }) => transaction)).size
const sums = async () =>
  (await db.many(Type.Object({ sum: Type.Integer() }), sql`select sum from sums order by project_id`)).map(({ sum }) => sum)

const count = (db: Db) => db.value(Type.Integer(), sql`select count(*) from numbers`)

/** The number of sessions of this database that wait for a lock. */
const waiting = () =>
  db.value(Type.Integer(), sql`select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)

/** What happened to each promise: its value, or the message or SQLSTATE of its error. */
const outcomesOf = async (promises: Promise<unknown>[]) =>
  (await Promise.allSettled(promises)).map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.message))

describe('a joint function', () => {
  beforeEach(async () => {
    await db.run(sql`insert into numbers (project_id, n) values (${A}, 1), (${A}, 2), (${B}, 3)`)
    statements = 0
  })

  const ask = (db: Db) =>
    Promise.all([numbersFrom(db, A, 2), numbersFrom(db, B, 0), numbersFrom(db, C, 0), numbersFrom(db, A, 0), numbersFrom(db, A, 9)])
  const answers = [[2], [3], [], [1, 2], []]

  test('has one statement for calls of several projects, and each gets its own rows', async () => {
    expect(await ask(view)).toEqual(answers)
    expect(statements).toBe(1)
  })

  test('has a statement for each call without a joint database', async () => {
    expect(await ask(db)).toEqual(answers)
    expect(statements).toBe(5)
  })

  test('has one statement for calls of work that got to it side by side, and another for later calls', async () => {
    const work = async (project: ProjectId) => {
      const all = await numbersFrom(view, project, 0)
      return [all, await numbersFrom(view, project, 2)]
    }
    expect(await Promise.all([work(A), work(B), work(C)])).toEqual([
      [[1, 2], [2]],
      [[3], [3]],
      [[], []],
    ])
    expect(statements).toBe(2)
  })

  test('of another function is another statement, and another view shares none', async () => {
    const others = jointViews()(db)
    await Promise.all([numbersFrom(view, A, 0), storeIn(view, B, 7), numbersFrom(others, A, 0), storeIn(others, C, 7)])
    expect(statements).toBe(4)
  })

  test('has one view of each database', () => {
    const viewOf = jointViews()
    expect(viewOf(db)).toBe(viewOf(db))
    expect(viewOf(db)).not.toBe(view)
  })

  test('rejects every call of a statement that fails, and the next statement works', async () => {
    const answer = joint<string, number>(async (_, calls) => {
      if (calls.some(({ input }) => input === 'wrong')) throw new Error('no')
      return calls.map((_, at) => at)
    })
    const call = (input: string) => answer(ctxOf(view), A, input)
    expect(await outcomesOf([call('right'), call('wrong')])).toEqual(['no', 'no'])
    expect(await outcomesOf([call('right'), call('right')])).toEqual([0, 1])
  })
})

describe('transactions that begin together', () => {
  test('become one, share its statements, and return their own results', async () => {
    const work = (project: ProjectId) =>
      view.transaction(async (tx) => {
        await storeIn(tx, project, project * 10)
        return numbersFrom(tx, project, 0)
      })
    expect(await Promise.all([work(A), work(B), work(C)])).toEqual([[10], [20], [30]])
    expect(await transactions()).toBe(1)
    expect(statements - 1).toBe(2)
  })

  test('commit together, and results come only after the commit', async () => {
    const [written, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const order: string[] = []
    const quick = view.transaction((tx) => storeIn(tx, A, 1)).then(async () => order.push(`quick sees ${(await pairs()).length}`))
    const slow = view.transaction(async (tx) => {
      await storeIn(tx, B, 1)
      written.resolve()
      await finish.promise
      order.push('slow ends')
    })
    await written.promise
    expect(await pairs()).toEqual([])
    finish.resolve()
    await Promise.all([quick, slow])
    expect(order).toEqual(['slow ends', 'quick sees 2'])
  })

  test('are those that wait while two run', async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const begun: ProjectId[] = []
    const held = [A, B].map(async (project, at) => {
      // One after the other, so that they do not become one.
      await expect.poll(() => begun.length).toBe(at)
      return view.transaction(async (tx) => {
        begun.push(project)
        await gates[at]?.promise
        await storeIn(tx, project, 1)
      })
    })
    await expect.poll(() => begun).toEqual([A, B])
    const later = [view.transaction((tx) => storeIn(tx, A, 2))]
    await numbersFrom(view, A, 0)
    later.push(view.transaction((tx) => storeIn(tx, B, 2)))
    await numbersFrom(view, A, 0)
    expect(await pairs()).toEqual([])
    for (const { resolve } of gates) resolve()
    await Promise.all([...held, ...later])
    expect(await transactions()).toBe(3)
    const byNumber = Map.groupBy(await stored(), ({ n }) => n)
    expect(new Set(byNumber.get(2)?.map(({ transaction }) => transaction)).size).toBe(1)
  })

  test('join a transaction that is nested in them', async () => {
    const nested = (project: ProjectId) => view.transaction((tx) => tx.transaction((inner) => storeIn(inner, project, 1)))
    await Promise.all([nested(A), nested(B)])
    expect(await transactions()).toBe(1)
  })
})

describe('when one of several fails, only it is rejected, and the others take effect once', () => {
  const others = () => [A, C].map((project) => view.transaction((tx) => storeIn(tx, project, 1)))
  const expected = [
    [A, 1],
    [C, 1],
  ]

  const faults: [string, (tx: TxDb) => Promise<unknown>, string][] = [
    ['before its first statement', () => Promise.reject(new Error('before')), 'before'],
    ['after a joint statement', (tx) => storeIn(tx, B, 1).then(() => Promise.reject(new Error('after'))), 'after'],
    ['by a statement of its own', (tx) => tx.run(sql`select 1 / 0`), 'division by zero'],
    [
      'by its part of a joint statement',
      (tx) => storeIn(tx, B, 5),
      'duplicate key value violates unique constraint "numbers_project_id_n_key"',
    ],
  ]
  test.each(faults)('%s', async (_, fault, message) => {
    await db.run(sql`insert into numbers (project_id, n) values (${B}, 5)`)
    const [first, last] = others()
    const failed = view.transaction(fault)
    expect(await outcomesOf([first, failed, last] as Promise<unknown>[])).toEqual([undefined, message, undefined])
    await db.run(sql`delete from numbers where project_id = ${B} and n = 5`)
    expect(await pairs()).toEqual(expected)
  })

  test('and it is rejected with its own error', async () => {
    await db.run(sql`insert into numbers (project_id, n) values (${B}, 5)`)
    const sound = others()
    const error = await view.transaction((tx) => storeIn(tx, B, 5)).catch((error) => error)
    expect(isSqlState(error, UNIQUE_VIOLATION)).toBe(true)
    await Promise.all(sound)
  })
})

test('when the commit fails, each runs alone, and returns what its committed run returned', async () => {
  let runs = 0
  const sound = view.transaction(async (tx) => {
    await storeIn(tx, A, 1)
    return ++runs
  })
  const failed = view.transaction((tx) => tx.run(sql`insert into checked_late (project_id) values (999)`))
  expect(await outcomesOf([sound, failed])).toEqual([2, expect.stringContaining('violates foreign key constraint')])
  expect(await pairs()).toEqual([[A, 1]])
})

/** Changes the sum of a project in a transaction of its own, which commits when it is released. */
async function holdSum(project: ProjectId, afterwards?: (tx: TxDb) => Promise<unknown>) {
  const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = db.transaction(async (tx) => {
    await addTo(tx, project, 100)
    locked.resolve()
    await release.promise
    await afterwards?.(tx)
  })
  await locked.promise
  return { holding, release: release.resolve }
}

describe('a lock that another transaction has', () => {
  test('keeps only the project waiting that needs it, and each takes effect once', async () => {
    const { holding, release } = await holdSum(B)
    const [a, b, c] = [A, B, C].map((project) =>
      view.transaction(async (tx) => {
        await storeIn(tx, project, 1)
        await addTo(tx, project, 1)
      }),
    )
    await Promise.all([a, c])
    expect(await sums()).toEqual([1, 0, 1])
    release()
    await Promise.all([b, holding])
    expect(await sums()).toEqual([1, 101, 1])
    expect(await pairs()).toEqual([A, B, C].map((project) => [project, 1]))
  })

  test('and that waits for this one is a deadlock that ends, and each takes effect once', async () => {
    const [hasA, mayTakeB] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { holding, release } = await holdSum(B, (tx) => addTo(tx, A, 100))
    const a = view.transaction(async (tx) => {
      await addTo(tx, A, 1)
      hasA.resolve()
    })
    const b = view.transaction(async (tx) => {
      await mayTakeB.promise
      // This session finds the deadlock at once, and not the other.
      await tx.run(sql`set local deadlock_timeout = '1ms'`)
      await addTo(tx, B, 1)
    })
    await hasA.promise
    release()
    await expect.poll(waiting).toBe(1)
    mayTakeB.resolve()
    await Promise.all([a, b, holding])
    expect(await sums()).toEqual([101, 101, 0])
  })
})

describe('many transactions that begin together', () => {
  const all = Array.from({ length: 40 }, (_, at) => at + 1)
  const storeAll = (wrong: number[]) =>
    outcomesOf(
      all.map((project) =>
        view.transaction(async (tx) => {
          await storeIn(tx, project as ProjectId, project)
          if (wrong.includes(project)) throw new Error(`${project} is wrong`)
          return project
        }),
      ),
    )

  test('are halved when one fails: it is rejected, and most of the others still share a transaction', async () => {
    expect(await storeAll([7])).toEqual(all.map((project) => (project === 7 ? '7 is wrong' : project)))
    expect((await stored()).map(({ n }) => n)).toEqual(all.filter((project) => project !== 7))
    // The second half, a quarter, and each of the ten of the other quarter but one.
    expect(await transactions()).toBe(1 + 1 + 9)
  })

  test('are several when they are too many for one', async () => {
    const many = Array.from({ length: 300 }, (_, at) => at + 1)
    await Promise.all(many.map((project) => view.transaction((tx) => storeIn(tx, project as ProjectId, project))))
    expect((await stored()).length).toBe(300)
    expect(await transactions()).toBe(2)
  })
})

describe('statements that are asked for together', () => {
  const insert = (db: Db, n: number) => db.run(sql`insert into numbers (project_id, n) values (${A}, ${n})`)
  const copy = (db: Db, n: number) => db.copy(sql`copy numbers (project_id, n) from stdin`, [`${A}\t${n}\n`])

  test.each([1, 2])('run in order, copies among them, in a transaction of %s', async (together) => {
    const work = (tx: TxDb) => Promise.all([insert(tx, 1), count(tx), copy(tx, 2), count(tx), copy(tx, 3), insert(tx, 4), count(tx)])
    const others = Array.from({ length: together - 1 }, () => view.transaction(async () => undefined))
    const [counts] = await Promise.all([view.transaction(work), ...others])
    expect(counts).toEqual([1, 1, 1, 2, 1, 1, 4])
    expect(await transactions()).toBe(1)
  })

  test.each([1, 2])('take no effect when one of them fails, in a transaction of %s', async (together) => {
    const work = (tx: TxDb) => Promise.all([insert(tx, 1), insert(tx, 1), insert(tx, 2), copy(tx, 3), insert(tx, 4)])
    const others = Array.from({ length: together - 1 }, () => view.transaction((tx) => storeIn(tx, B, 9)))
    const [failed] = await Promise.allSettled([view.transaction(work), ...others])
    expect(isSqlState((failed as PromiseRejectedResult).reason, UNIQUE_VIOLATION)).toBe(true)
    expect(await pairs()).toEqual(others.map(() => [B, 9]))
    expect(await view.transaction((tx) => insert(tx, 5))).toBe(1)
  })
})

test('a view with one transaction at a time has those that come meanwhile share the next one', async () => {
  const single = jointViews(1)(db)
  const [begun, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const first = single.transaction(async (tx) => {
    begun.resolve()
    await finish.promise
    await storeIn(tx, A, 1)
  })
  await begun.promise
  const second = single.transaction((tx) => storeIn(tx, B, 2))
  await new Promise(setImmediate)
  const third = single.transaction((tx) => storeIn(tx, C, 3))
  finish.resolve()
  await Promise.all([first, second, third])
  expect(await transactions()).toBe(2)
})

test('work that needs a savepoint runs alone, and what is undone in it stays undone', async () => {
  const runs: number[] = []
  const work = (project: ProjectId) =>
    view.transaction(async (tx) => {
      runs.push(project)
      await storeIn(tx, project, 1)
      if (project !== B) return
      const undo = async (tx: TxDb) => {
        await storeIn(tx, project, 2)
        throw new Error('undone')
      }
      await tx.savepoint(undo).catch((error: Error) => expect(error.message).toBe('undone'))
      await storeIn(tx, project, 3)
    })
  await Promise.all([work(A), work(B), work(C)])
  expect(await pairs()).toEqual([
    [A, 1],
    [B, 1],
    [B, 3],
    [C, 1],
  ])
  // Together, and then each by itself.
  expect(runs.toSorted()).toEqual([A, A, B, B, C, C])
})

test('a single transaction over a joint database is an ordinary one, with savepoints', async () => {
  await view.transaction(async (tx) => {
    await tx.savepoint((tx) => storeIn(tx, A, 1))
    await storeIn(tx, A, 2)
  })
  expect(await pairs()).toEqual([
    [A, 1],
    [A, 2],
  ])
})

test('in a transaction that runs alone, a savepoint undoes only its own, and begins when a copy beside it has ended', async () => {
  const undo = (tx: TxDb) =>
    tx
      .savepoint(async (tx) => {
        await Promise.all([storeIn(tx, A, 2), storeIn(tx, A, 3)])
        throw new Error('undone')
      })
      .catch(({ message }: Error) => message)
  const copy = (tx: TxDb) => tx.copy(sql`copy numbers (project_id, n) from stdin`, [`${A}\t9\n`])
  await view.transaction((tx) => Promise.all([storeIn(tx, A, 1), copy(tx), undo(tx), storeIn(tx, A, 4), undo(tx), storeIn(tx, A, 5)]))
  expect(await pairs()).toEqual([
    [A, 1],
    [A, 4],
    [A, 5],
    [A, 9],
  ])
})
