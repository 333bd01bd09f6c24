/**
 * Work for many projects over few statements. Each project's work is written as if it ran alone; where several run at the same time over a
 * `jointDatabase`, a `joint` function gets the calls of all of them and answers them with one statement, and their transactions become
 * one.
 */
import { type Static, type TObject, Type } from 'typebox'
import type { Clock } from '../../lib/clock.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { type Db, type Sql, sql, type TxDb } from './db.ts'

/** What statements need of a context. */
type JointCtx = { db: Db; clock: Clock }

/** A call of a joint function: its project and its input. */
export type JointCall<I> = { projectId: ProjectId; input: I }

/** Answers calls of several projects, in their order, with one statement. */
type Answer<I, O> = (ctx: JointCtx, calls: JointCall<I>[]) => Promise<O[]>

type Waiting = { call: JointCall<unknown>; resolve(value: unknown): void; reject(reason: unknown): void }

/** The calls that wait for the next statement of each function. */
class Calls {
  readonly #waiting = new Map<Answer<never, unknown>, { ctx: JointCtx; calls: Waiting[] }>()

  add<I, O>(answer: Answer<I, O>, ctx: JointCtx, call: JointCall<I>): Promise<O> {
    return new Promise<O>((resolve, reject) => {
      const waiting = this.#waiting.get(answer as never)
      const one = { call, resolve, reject } as Waiting
      if (waiting) waiting.calls.push(one)
      else {
        this.#waiting.set(answer as never, { ctx, calls: [one] })
        // Everything that is ready to run comes first: whatever works side by side arrives at the same function.
        setImmediate(() => void this.#flush(answer as never))
      }
    })
  }

  async #flush(answer: Answer<unknown, unknown>): Promise<void> {
    const waiting = this.#waiting.get(answer as never)
    this.#waiting.delete(answer as never)
    if (!waiting) return
    try {
      const values = await answer(
        waiting.ctx,
        waiting.calls.map(({ call }) => call),
      )
      waiting.calls.forEach(({ resolve }, at) => {
        resolve(values[at])
      })
    } catch (error) {
      for (const { reject } of waiting.calls) reject(error)
    }
  }
}

const callsOf = new WeakMap<Db, Calls>()

/** A function whose calls over a joint database share a statement. Over any other database each call has one of its own. */
export function joint<I, O>(answer: Answer<I, O>): (ctx: JointCtx, projectId: ProjectId, input: I) => Promise<O> {
  // Not async: an event makes some thirty of these calls, and each would have a promise more.
  return (ctx, projectId, input) => {
    const call = { projectId, input }
    const calls = callsOf.get(ctx.db)
    return calls ? calls.add(answer, ctx, call) : answerOne(answer, ctx, call)
  }
}

async function answerOne<I, O>(answer: Answer<I, O>, ctx: JointCtx, call: JointCall<I>): Promise<O> {
  const [value] = await answer(ctx, [call])
  return value as O
}

/**
 * Joint views of databases, one of each: whatever uses the same one can share statements. With fewer transactions at once, more work waits for
 * the next one, and shares it.
 */
export function jointViews(transactionsAtOnce = TRANSACTIONS_AT_ONCE): (db: Db) => Db {
  const views = new WeakMap<Db, Db>()
  return (db) => {
    const view = views.get(db) ?? jointDatabase(db, transactionsAtOnce)
    views.set(db, view)
    return view
  }
}

/** A joint transaction gives up waiting for a lock after this time. What waits for it then runs alone. */
const LOCK_MS = 250
/** Its statements are small. When one takes longer, the work of each project runs alone, so that one of them cannot hold up the others. */
const STATEMENT_MS = 5000
const TRANSACTIONS_AT_ONCE = 2
/** One transaction does the work of at most so many. */
const TOGETHER_MAX = 256
/** When a transaction of more than these fails, its halves are tried. Fewer are run alone. */
const HALVED_FROM = 16
/** So many run alone at the same time, each on a connection of its own. */
const ALONE_AT_ONCE = 16

type Work = { run: (db: TxDb) => Promise<unknown>; resolve(value: unknown): void; reject(reason: unknown): void }

/**
 * A view of a database for the work of several projects at the same time. Calls of `joint` functions share statements. Transactions that
 * begin at the same time become one: when anything in it fails it is undone as a whole. Its halves are tried, and in the end each is run
 * again alone, so that the work of a project fails by its own fault only. What has failed with others may wait for a lock alone, and nothing else
 * waits for it.
 */
function jointDatabase(db: Db, transactionsAtOnce: number): Db {
  const view: Db = { ...db, transaction }
  let waiting: Work[] = []
  let running = 0
  const alone: Work[] = []
  let runningAlone = 0
  callsOf.set(view, new Calls())
  return view

  function transaction<T>(run: (db: TxDb) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      waiting.push({ run, resolve, reject } as Work)
      if (waiting.length === 1) setImmediate(() => void next())
    })
  }

  async function next(): Promise<void> {
    if (running >= transactionsAtOnce || waiting.length === 0) return
    const works = waiting
    waiting = works.splice(TOGETHER_MAX)
    running++
    if (waiting.length > 0) void next()
    const left = await runTogether(db, works)
    running--
    void next()
    alone.push(...left)
    for (const _ of left) void nextAlone()
  }

  async function nextAlone(): Promise<void> {
    if (runningAlone >= ALONE_AT_ONCE) return
    const work = alone.shift()
    if (!work) return
    runningAlone++
    await runAlone(db, work)
    runningAlone--
    void nextAlone()
  }
}

/** Runs several in one transaction, or in as few as work. Returns those that have to run alone. */
async function runTogether(db: Db, works: Work[]): Promise<Work[]> {
  const [only] = works
  if (works.length === 1 && only) {
    await runAlone(db, only)
    return []
  }
  try {
    const values = await db.transaction(
      async (shared) => {
        const { tx, idle } = inOrder(shared)
        const calls = new Calls()
        const outcomes = await Promise.allSettled(works.map(async ({ run }) => run(jointTransaction(tx, calls))))
        await idle()
        return outcomes.map((outcome) => {
          // Not the reason itself: of a conflict the transaction would be run again with all the others.
          if (outcome.status === 'rejected') throw new Error('A part of a joint transaction failed.', { cause: outcome.reason })
          return outcome.value
        })
      },
      { statementMs: STATEMENT_MS, lockMs: LOCK_MS, pipelined: true },
    )
    for (const [at, { resolve }] of works.entries()) resolve(values[at])
    return []
  } catch {
    if (works.length < HALVED_FROM) return works
    const middle = works.length >> 1
    return [...(await runTogether(db, works.slice(0, middle))), ...(await runTogether(db, works.slice(middle)))]
  }
}

/** Without a limit for locks, which would be one more statement of every transaction. */
const runAlone = (db: Db, { run, resolve, reject }: Work): Promise<void> =>
  db
    .transaction(
      async (shared) => {
        const { tx, idle } = inOrder(shared)
        return await run(tx).finally(idle)
      },
      { pipelined: true },
    )
    .then(resolve, reject)

/**
 * Statements run in the order in which they are asked for, and are sent without waiting for each other. A copy or a savepoint is begun when those
 * before it are done, and those after it are sent when it is. `idle` waits for all of them: what still waited when the transaction ended would run
 * outside of it.
 */
function inOrder(tx: TxDb): { tx: TxDb; idle: () => Promise<unknown> } {
  let asked: Promise<unknown> = Promise.resolve()
  let alone: Promise<unknown> | null = null
  const sent =
    <A extends unknown[], R>(run: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> => {
      const result = alone ? alone.then(() => run(...args)) : run(...args)
      asked = Promise.allSettled([asked, result])
      return result
    }
  const byItself = <R>(run: () => Promise<R>): Promise<R> => {
    const result = asked.then(run)
    const done = result.then(end, end)
    asked = done
    alone = done
    return result

    function end() {
      if (alone === done) alone = null
    }
  }
  const { many, one, value, first, run } = tx
  const statements = { many: sent(many), one: sent(one), value: sent(value), first: sent(first), run: sent(run) }
  const ordered = {
    ...tx,
    ...statements,
    copy: (...args) => byItself(() => tx.copy(...args)),
    savepoint: (work) =>
      byItself(() =>
        tx.savepoint(async (db) => {
          const inner = inOrder(db)
          return await work(inner.tx).finally(inner.idle)
        }),
      ),
    within: () => ordered,
    transaction: (work) => work(ordered),
  } as TxDb
  return { tx: ordered, idle: () => asked }
}

/** The part of one project in a joint transaction. Savepoints of several would nest in each other, so what needs one runs alone. */
function jointTransaction(tx: TxDb, calls: Calls): TxDb {
  const savepoint = () => Promise.reject(new Error('A joint transaction has no savepoints.'))
  const view: TxDb = { ...tx, savepoint, transaction: (work) => work(view) }
  callsOf.set(view, calls)
  return view
}

/**
 * A joint function that returns rows. Its statement selects `q.call`, the index of the call that a row belongs to, beside the columns of
 * the row.
 */
export function jointMany<I, S extends TObject>(
  row: S,
  statement: (ctx: JointCtx, calls: JointCall<I>[]) => Sql,
): (ctx: JointCtx, projectId: ProjectId, input: I) => Promise<Static<S>[]> {
  const shape = Type.Object({ call: Type.Integer(), ...row.properties })
  return joint<I, Static<S>[]>(async (ctx, calls) => {
    const byCall: Static<S>[][] = calls.map(() => [])
    for (const { call, ...found } of (await ctx.db.many(shape, statement(ctx, calls))) as ({ call: number } & Static<S>)[]) {
      byCall[call]?.push(found as Static<S>)
    }
    return byCall
  })
}

/** A joint function that only writes. */
export const jointRun = <I>(
  run: (ctx: JointCtx, calls: JointCall<I>[]) => Promise<unknown>,
): ((ctx: JointCtx, projectId: ProjectId, input: I) => Promise<void>) =>
  joint<I, void>(async (ctx, calls) => {
    await run(ctx, calls)
    return calls.map(() => undefined)
  })

/**
 * Calls as rows `q(call, project_id, …)`: the index of each, its project, and the columns that `row` makes of its input. They are in the
 * order of their projects, so that statements lock the rows of several always in the same order.
 */
export function callRows<I>(calls: JointCall<I>[], columns?: Sql, row?: (input: I) => Record<string, unknown>): Sql {
  const rows = calls
    .map(({ projectId, input }, call) => ({ call, project_id: projectId, ...row?.(input) }))
    .sort((a, b) => a.project_id - b.project_id)
  return sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as q(call int, project_id bigint${columns ? sql`, ${columns}` : sql``})`
}
