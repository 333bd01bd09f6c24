/** Statements that fail, by triggers: as they do while the database is away, or for rows that cannot be saved. */
import { type Db, raw, type TxDb } from '../src/infra/postgres/db.ts'
import type { Ctx } from '../src/infra/runtime/ctx.ts'
import type { TestClock } from './test-clock.ts'
import type { World } from './world.ts'

/** What PostgreSQL says while it is being stopped. */
export const AWAY = '57P01'
/** What it says while its disk is full. */
export const DISK_FULL = '53100'
/** What it says while it has no memory left. */
export const OUT_OF_MEMORY = '53200'

type Failing = {
  table: string
  on?: 'insert' | 'update' | 'delete'
  /** Which rows fail, as a condition on `old` and `new`. */
  when: string
  /** The SQLSTATE. The default is one that no repetition mends. */
  code?: string
  /** How many statements fail. Default: all of them. */
  times?: number
  /** The commit fails instead of the statement. */
  atCommit?: boolean
}

let triggers = 0

/** Has insertions, updates or deletions of rows of this project fail until it is disposed of. */
export async function failSaves({ db, projectId }: Pick<World, 'db' | 'projectId'>, failing: Failing): Promise<AsyncDisposable> {
  const { table, on = 'update', when, code = '22000', times = 1_000_000, atCommit = false } = failing
  const row = on === 'delete' ? 'old' : 'new'
  const name = `fails_${++triggers}`
  await db.run(raw(`create sequence ${name}`))
  await db.run(
    raw(`create function ${name}() returns trigger language plpgsql as $$
         begin
           if nextval('${name}') <= ${times} then raise exception 'It fails.' using errcode = '${code}'; end if;
           return ${row};
         end $$`),
  )
  await db.run(
    raw(`create ${atCommit ? 'constraint ' : ''}trigger ${name} ${atCommit ? 'after' : 'before'} ${on} on ${table}
         ${atCommit ? 'deferrable initially deferred' : ''} for each row when (${row}.project_id = ${projectId} and ${when})
         execute function ${name}()`),
  )
  return {
    async [Symbol.asyncDispose]() {
      await db.run(raw(`drop function ${name} cascade`))
      await db.run(raw(`drop sequence ${name}`))
    },
  }
}

/** A context with a database whose transactions fail after this many statements. */
export function failingAfter(ctx: Ctx, statements: number, error: Error): Ctx {
  let left = statements
  const counted = (db: TxDb): TxDb =>
    new Proxy(db, {
      get(target, name: keyof TxDb) {
        const member = target[name] as unknown
        if (typeof member !== 'function') return member
        if (name === 'transaction') return (work: (db: TxDb) => unknown) => work(counted(target))
        return (...parameters: unknown[]) => {
          if (--left < 0) throw error
          return member(...parameters)
        }
      },
    })
  const db: Db = { ...ctx.db, transaction: (work) => ctx.db.transaction((db) => work(counted(db))) }
  return { ...ctx, db }
}

/** A context whose database loses the answer of every other transaction: it commits, and its connection ends. */
export function losingAnswers(ctx: Ctx): Ctx {
  let answers = 0
  const lose =
    <P extends unknown[], T>(call: (...parameters: P) => Promise<T>) =>
    async (...parameters: P): Promise<T> => {
      const answer = await call(...parameters)
      if (answers++ % 2 === 0) throw new Error('Connection terminated unexpectedly')
      return answer
    }
  const { run, transaction } = ctx.db
  return { ...ctx, db: { ...ctx.db, run: lose(run), transaction: lose(transaction) as Db['transaction'] } }
}

const TICK_MS = 20
const ADVANCE_MS = 250

/** Moves the clock on, slowly, until the work is done. */
export async function whileTimePasses<T>(clock: TestClock, work: Promise<T>): Promise<T> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  done.catch(() => undefined)
  while (!isDone) {
    await new Promise((resolve) => setTimeout(resolve, TICK_MS))
    clock.advance(ADVANCE_MS)
  }
  return done
}
