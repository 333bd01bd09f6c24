/** Joint functions and joint transactions, on a database of their own. `xmin` is the transaction that wrote a row. */
import { Type } from 'typebox'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createDatabase } from '../../../test/ground.ts'
import { openHeldAnswers } from '../../../test/held-answers.ts'
import { createTestClock } from '../../../test/test-clock.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { Conflict, type Database, type Db, isSqlState, openDatabase, raw, sql, type TxDb, UNIQUE_VIOLATION } from './db.ts'
import { callRows, type JointCall, joint, jointMany, jointRun, jointViews } from './joint.ts'

/** A statement has a minute by default. */
const SLOW_MS = 30_000

const [A, B, C] = [1, 2, 3] as ProjectId[] as [ProjectId, ProjectId, ProjectId]

let url: string
let db: Database
let view: Db
let statements = 0

beforeAll(async () => {
  url = await createDatabase()
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

/** Ready to run, but only after some turns of what is ready before. */
const ready = async () => {
  for (let times = 0; times < 3; times++) await new Promise<void>(process.nextTick)
}

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

  test('waits for everything that is ready to run', async () => {
    const late = ready().then(() => numbersFrom(view, B, 0))
    expect(await Promise.all([numbersFrom(view, A, 0), late])).toEqual([[1, 2], [3]])
    expect(statements).toBe(1)
  })

  test('has the calls in the order of their projects, in whichever they came: statements lock the rows of several in the same order', async () => {
    const projectsOf = joint<null, number[]>(async ({ db }, calls) => {
      const rows = await db.many(Type.Object({ project_id: Type.Integer() }), sql`select q.project_id from ${callRows(calls)}`)
      return calls.map(() => rows.map(({ project_id }) => project_id))
    })
    const [found] = await Promise.all([C, A, B].map((project) => projectsOf(ctxOf(view), project, null)))
    expect(found).toEqual([A, B, C])
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

  test('are all that are ready to run', async () => {
    const late = ready().then(() => view.transaction((tx) => storeIn(tx, B, 1)))
    await Promise.all([view.transaction((tx) => storeIn(tx, A, 1)), late])
    expect(await transactions()).toBe(1)
  })

  test('join a transaction that is nested in them, and share its statements', async () => {
    const nested = (project: ProjectId) => view.transaction((tx) => tx.transaction((inner) => storeIn(inner, project, 1)))
    await Promise.all([nested(A), nested(B)])
    expect(statements).toBe(1)
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
    [
      'before it returns a promise',
      () => {
        throw new Error('at once')
      },
      'at once',
    ],
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

test('none runs again before it has ended, when another one fails', async () => {
  const failed = Promise.withResolvers<void>()
  let [running, most] = [0, 0]
  const slow = view.transaction(async (tx) => {
    most = Math.max(most, ++running)
    await failed.promise
    // The transaction would be rolled back meanwhile.
    for (let times = 0; times < 20; times++) await count(db)
    await storeIn(tx, A, 1).finally(() => running--)
  })
  const failing = view.transaction(async () => {
    failed.resolve()
    throw new Error('no')
  })
  expect(await outcomesOf([slow, failing])).toEqual([undefined, 'no'])
  expect(most).toBe(1)
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

test('a connection that is lost in the middle is not the end of any: each takes effect once, on another one', async () => {
  const runs: ProjectId[] = []
  const work = (project: ProjectId) =>
    view.transaction(async (tx) => {
      runs.push(project)
      await storeIn(tx, project, 1)
      if (project === B && runs.filter((run) => run === B).length === 1) await tx.run(sql`select pg_terminate_backend(pg_backend_pid())`)
      await storeIn(tx, project, 2)
      return project
    })
  expect(await Promise.all([work(A), work(B), work(C)])).toEqual([A, B, C])
  expect(await pairs()).toEqual([A, B, C].flatMap((project) => [1, 2].map((n) => [project, n])))
})

test('a conflict of one is tried again without the others', async () => {
  let [runs, tries] = [0, 0]
  const sound = view.transaction(async (tx) => {
    runs++
    await storeIn(tx, A, 1)
  })
  const conflicting = view.transaction(async (tx) => {
    if (++tries < 5) throw new Conflict('again')
    await storeIn(tx, B, 1)
  })
  await Promise.all([sound, conflicting])
  // Together, and then each by itself.
  expect([runs, tries]).toEqual([2, 5])
  expect(await pairs()).toEqual([
    [A, 1],
    [B, 1],
  ])
})

test('one that takes an error for an answer does not have the others believe that they took effect', async () => {
  const sound = view.transaction((tx) => storeIn(tx, A, 1))
  const careless = view.transaction(async (tx) => {
    await storeIn(tx, B, 1)
    await tx.run(sql`select 1 / 0`).catch(() => 'no matter')
  })
  expect(await outcomesOf([sound, careless])).toEqual([undefined, expect.any(String)])
  expect(await pairs()).toEqual([[A, 1]])
})

test('a statement that takes long keeps only the project waiting that has it', { timeout: SLOW_MS }, async () => {
  // It ends when the other has taken effect.
  const slow = view.transaction((tx) =>
    tx.run(sql`
      do $$ begin
        while not exists (select from numbers where project_id = ${raw(String(A))}) loop perform pg_sleep(0.01); end loop;
      end $$`),
  )
  await Promise.all([slow, view.transaction((tx) => storeIn(tx, A, 1))])
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

  test('is waited for as long as it takes by one that runs alone', async () => {
    const [held, next] = [await holdSum(B), await holdSum(C)]
    const add = (project: ProjectId) => view.transaction((tx) => addTo(tx, project, 1))
    const [a, b] = [add(A), add(B)]
    await a
    // Two that share a transaction wait until they give up. The one that runs alone has waited since before.
    const [again, c] = [add(A), add(C)]
    await again
    for (const { release } of [held, next]) release()
    await Promise.all([b, c, held.holding, next.holding])
    expect(await sums()).toEqual([2, 101, 101])
  })

  test('keeps nothing else waiting, also among many', async () => {
    const { holding, release } = await holdSum(B)
    const add = (project: ProjectId) => view.transaction((tx) => addTo(tx, project, 1))
    const locked = add(B)
    const many = Array.from({ length: 40 }, (_, at) => view.transaction((tx) => storeIn(tx, A, at)))
    await Promise.all(many)
    release()
    await Promise.all([locked, holding])
    expect(await sums()).toEqual([0, 101, 0])
  })

  test('keeps no later transaction waiting, where one runs at a time', async () => {
    const single = jointViews(1)(db)
    const { holding, release } = await holdSum(B)
    const add = (project: ProjectId) => single.transaction((tx) => addTo(tx, project, 1))
    const [a, b] = [add(A), add(B)]
    await a
    await add(C)
    release()
    await Promise.all([b, holding])
    expect(await sums()).toEqual([1, 101, 1])
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

  test('do not wait for each other when they are too many for one', async () => {
    const finish = Promise.withResolvers<void>()
    const many = Array.from({ length: 300 }, (_, at) =>
      view.transaction(async (tx) => {
        if (at === 0) await finish.promise
        await storeIn(tx, (at + 1) as ProjectId, at)
      }),
    )
    await many.at(-1)
    expect((await pairs()).map(([, n]) => n)).not.toContain(0)
    finish.resolve()
    await Promise.all(many)
    expect((await stored()).length).toBe(300)
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

  test.each([1, 2])('and those asked for later run after a copy that waits, in a transaction of %s', async (together) => {
    const work = (tx: TxDb) => Promise.all([copy(tx, 1).then(() => count(tx)), copy(tx, 2), copy(tx, 3)])
    const others = Array.from({ length: together - 1 }, () => view.transaction(async () => undefined))
    expect((await Promise.all([view.transaction(work), ...others]))[0]).toEqual([3, 1, 1])
  })

  test.each([1, 2])('take effect though nothing waits for them, in a transaction of %s', async (together) => {
    const work = async (tx: TxDb) => {
      for (const n of [1, 2]) void copy(tx, n)
      void insert(tx, 3)
    }
    const others = Array.from({ length: together - 1 }, () => view.transaction(async () => undefined))
    await Promise.all([view.transaction(work), ...others])
    expect((await pairs()).map(([, n]) => n)).toEqual([1, 2, 3])
  })

  test.each([1, 2])('are sent without waiting for each other, in a transaction of %s', { timeout: SLOW_MS }, async (together) => {
    await using held = await openHeldAnswers(url, { both: ['as one', 'as another'] })
    await using through = openDatabase({ url: held.url, connectionsMax: 4, name: 'test' })
    const view = jointViews()(through)
    const others = Array.from({ length: together - 1 }, () => view.transaction(async () => undefined))
    await Promise.all([view.transaction((tx) => Promise.all([tx.run(sql`select 1 as one`), tx.run(sql`select 1 as another`)])), ...others])
    expect(held.complete()).toEqual(['both'])
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

test('in a transaction that runs alone, a savepoint has what was asked for in it, though nothing waits for it', async () => {
  await view.transaction((tx) =>
    tx.savepoint(async (tx) => {
      for (const n of [1, 2]) void tx.copy(sql`copy numbers (project_id, n) from stdin`, [`${A}\t${n}\n`])
    }),
  )
  expect(await pairs()).toEqual([
    [A, 1],
    [A, 2],
  ])
})

test.each(['transaction', 'within'] as const)(
  'statements of a %s that is nested in one that runs alone keep the order of all',
  async (kind) => {
    const copy = (tx: Db, n: number) => tx.copy(sql`copy numbers (project_id, n) from stdin`, [`${A}\t${n}\n`])
    const counts = await view.transaction((tx) => {
      const nested = () => (kind === 'within' ? count({ ...tx, ...tx.within({}) }) : tx.transaction(count))
      return Promise.all([copy(tx, 1), copy(tx, 2), nested()])
    })
    expect(counts).toEqual([1, 1, 2])
  },
)

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
