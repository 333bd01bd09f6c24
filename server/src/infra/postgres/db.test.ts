import { Type } from 'typebox'
import { afterAll, describe, expect, test } from 'vitest'
import { world } from '../../../test/world.ts'
import { Instant } from '../../lib/shapes.ts'
import { claimFirst, inClaim, inTx } from '../runtime/ctx.ts'
import { isDatabaseAway } from './database-away.ts'
import { isSqlState, join, openDatabase, raw, sql, type TxDb } from './db.ts'

const One = Type.Object({ one: Type.Integer() })

describe('rows', () => {
  test.each([
    '1970-01-01T00:00:00.000Z',
    '2026-11-20T02:56:21.664Z',
    '2026-11-20T02:56:21.600Z',
    '2026-11-20T02:56:21.000Z',
    '2100-12-31T23:59:59.999Z',
  ])('%s reads back as it was written', async (text) => {
    await using w = await world()
    const row = await w.db.first(Type.Object({ at: Instant }), sql`select ${new Date(text)}::timestamptz(3) as at`)
    expect(row?.at.toISOString()).toBe(text)
  })

  test('int8 is read as a number, alone and in an array, and unsafe integers are refused', async () => {
    await using w = await world()
    const Row = Type.Object({ one: Type.Integer(), many: Type.Array(Type.Integer()) })
    expect(await w.db.first(Row, sql`select 7::bigint as one, array[1, 2]::bigint[] as many`)).toEqual({ one: 7, many: [1, 2] })
    await expect(w.db.first(One, sql`select 9007199254740993::bigint as one`)).rejects.toThrow('out of the safe range')
  })

  test('with checkRows, a row that does not match its schema throws', async () => {
    await using w = await world()
    await expect(w.db.first(One, sql`select null::int as one`)).rejects.toThrow('does not match its schema')
  })
})

describe('statements', () => {
  test('values are parameters, in nested parts too', async () => {
    await using w = await world()
    const evil = "'; drop table users; --"
    const Row = Type.Object({ a: Type.String(), b: Type.String() })
    const parts = [sql`${evil}::text as a`, sql`${'b'}::text as b`]
    expect(await w.db.first(Row, sql`select ${join(parts, ', ')}`)).toEqual({ a: evil, b: 'b' })
  })

  test('a pool prepares 2,000 different statements, however many another pool has prepared', async () => {
    await using w = await world()
    await using full = openDatabase({ url: w.databaseUrl, connectionsMax: 1, name: 'test' })
    await using other = openDatabase({ url: w.databaseUrl, connectionsMax: 1, name: 'test' })
    await full.transaction(async (db) => {
      for (let n = 0; n <= 2000; n++) await db.run(raw(`select ${n}`))
    })
    await other.run(raw('select 2000'))
    const prepared = sql`select count(*) from pg_prepared_statements where statement ~ '^select [0-9]+$'`
    expect([await full.value(Type.Integer(), prepared), await other.value(Type.Integer(), prepared)]).toEqual([2000, 1])
  })
})

describe('transactions', () => {
  // Other files look at all tables of the database.
  afterAll(async () => {
    await using w = await world()
    await w.db.run(sql`drop table if exists scratch, beside, late_numbers, doors, numbers, counted, growing`)
  })

  test('an error rolls back the transaction, and in a savepoint only the savepoint', async () => {
    await using w = await world()
    await w.db.run(sql`create table if not exists scratch (n int)`)
    await expect(
      w.db.transaction(async (db) => {
        await db.run(sql`insert into scratch values (1)`)
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    await w.db.transaction(async (db) => {
      await db.run(sql`insert into scratch values (2)`)
      await db.savepoint((db) => db.run(sql`insert into scratch values (1 / 0)`)).catch(() => undefined)
      await db.transaction((inner) => inner.run(sql`insert into scratch values (3)`))
    })
    expect(await w.db.many(Type.Object({ n: Type.Integer() }), sql`select n from scratch order by n`)).toEqual([{ n: 2 }, { n: 3 }])
  })

  test('a transaction whose work goes on after a statement that failed is rejected, because none of it takes effect', async () => {
    await using w = await world()
    await w.db.run(sql`create table if not exists scratch (n int)`)
    const careless = w.db.transaction(async (db) => {
      await db.run(sql`insert into scratch values (10)`)
      await db.run(sql`insert into scratch values (1 / 0)`).catch(() => undefined)
    })
    await expect(careless).rejects.toThrow('A statement of this transaction failed')
    expect(await w.db.many(Type.Object({ n: Type.Integer() }), sql`select n from scratch where n = 10`)).toEqual([])
  })

  test('the error of statements that are sent together is that of the first that failed, whichever is heard of first', async () => {
    await using w = await world()
    const work = async (db: TxDb) => {
      const failed = db.run(sql`select 1 / 0`)
      failed.catch(() => undefined)
      return await db.value(Type.Integer(), sql`select 1`)
    }
    const codes = ['22012', '25P02']
    const codeOf = (error: unknown) => codes.find((code) => isSqlState(error, code))
    expect(await w.db.transaction(work, { pipelined: true }).catch(codeOf)).toBe('22012')
    const inside = await w.db.transaction((db) => db.savepoint(work).catch(codeOf), { pipelined: true })
    expect(inside).toBe('22012')
  })

  test('savepoints beside other statements of a transaction take turns with them, and undo only their own', async () => {
    await using w = await world()
    await w.db.run(sql`create table beside (n int)`)
    const warnings: string[] = []
    const note = ({ message }: Error) => void warnings.push(message)
    process.on('warning', note)
    const add = (db: TxDb, n: number) => db.run(sql`insert into beside values (${n})`)
    const undo = (db: TxDb, ...numbers: number[]) =>
      db
        .savepoint(async (db) => {
          await Promise.all(numbers.map((n) => add(db, n)))
          throw new Error('undone')
        })
        .catch(({ message }: Error) => message)
    const nest = (db: TxDb) => db.savepoint(async (db) => [await undo(db, 5), await add(db, 6)])
    const found = await w.db.transaction((db) => Promise.all([add(db, 1), undo(db, 2, 3), add(db, 4), nest(db), undo(db, 7), add(db, 8)]))
    expect(found).toEqual([1, 'undone', 1, ['undone', 1], 'undone', 1])
    expect((await w.db.many(Type.Object({ n: Type.Integer() }), sql`select n from beside order by n`)).map(({ n }) => n)).toEqual([
      1, 4, 6, 8,
    ])
    await new Promise(setImmediate)
    process.off('warning', note)
    expect(warnings).toEqual([])
  })

  test('a savepoint that outlives its transaction, or is asked for later, leaves the connection alone', async () => {
    await using w = await world()
    const [begun, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const late: Promise<unknown>[] = []
    const work = async (db: TxDb) => {
      const outlives = db.savepoint(async () => {
        begun.resolve()
        await left.promise
      })
      late.push(
        outlives,
        left.promise.then(() => db.savepoint(async () => 1)),
      )
      await begun.promise
      throw new Error('failed')
    }
    await expect(w.db.transaction(work)).rejects.toThrow('failed')
    // On the connection that the transaction had.
    await w.db.transaction(async (db) => {
      left.resolve()
      const ended = { status: 'rejected', reason: new Error('The transaction of a savepoint has ended.') }
      expect(await Promise.allSettled(late)).toEqual([ended, ended])
      expect(await db.value(Type.Integer(), sql`select 1`)).toBe(1)
    })
  })

  test('a statement that is asked for when the work of its transaction has returned is refused', async () => {
    await using w = await world()
    await w.db.run(sql`create table late_numbers (n int)`)
    const insert = (db: TxDb) => db.run(sql`insert into late_numbers values (1)`).catch((error: Error) => error.message)
    for (const fails of [false, true]) {
      const returned = Promise.withResolvers<void>()
      let late: Promise<unknown> | undefined
      const work = async (db: TxDb) => {
        late = returned.promise.then(() => insert(db))
        if (fails) throw new Error('failed')
      }
      await w.db.transaction(work).catch(() => undefined)
      returned.resolve()
      expect(await late).toBe('The transaction of a statement has ended: insert into late_numbers values (1)')
    }
    expect(await w.db.many(Type.Object({ n: Type.Integer() }), sql`select n from late_numbers`)).toEqual([])
  })

  test('a claim is cancelled after seconds, and what follows on its connection is not', async () => {
    await using w = await world({ own: true, env: {} })
    const Limit = Type.Object({ statement_timeout: Type.String() })
    const limits = () => sql`show statement_timeout`
    expect(await inClaim(w.ctx, (ctx) => ctx.db.first(Limit, limits()))).toEqual({ statement_timeout: '5s' })
    expect(await w.db.first(Limit, limits())).toEqual({ statement_timeout: '1min' })
    const slow = w.db.transaction((db) => db.run(sql`select pg_sleep(60)`), { statementMs: 20 })
    expect(isSqlState(await slow.catch((error: unknown) => error), '57014')).toBe(true)
  })

  test('a claim at the start of a transaction leaves its limits to itself', async () => {
    await using w = await world()
    const limits = sql`select concat_ws(' ', current_setting('statement_timeout'), current_setting('enable_sort'), current_setting('enable_seqscan')) as is`
    const found = await inTx(w.ctx, async (ctx) => {
      const inside = await claimFirst(ctx, () => ctx.db.value(Type.String(), limits))
      return [inside, await ctx.db.value(Type.String(), limits)]
    })
    expect(found).toEqual(['5s off off', '1min on off'])
  })

  test('a process that is suspended in a transaction loses it, and its locks', async () => {
    await using w = await world({ own: true, env: {} })
    const Limit = Type.Object({ idle_in_transaction_session_timeout: Type.String() })
    const limit = sql`show idle_in_transaction_session_timeout`
    expect(await w.db.first(Limit, limit)).toEqual({ idle_in_transaction_session_timeout: '1min' })
    await w.db.run(sql`create table doors (n int primary key)`)
    await w.db.run(sql`insert into doors values (1)`)
    const suspended = w.db.transaction(async (db) => {
      await db.run(sql`set local idle_in_transaction_session_timeout = 50`)
      await db.run(sql`select from doors for update`)
      await w.db.run(sql`update doors set n = 2`)
      await db.run(sql`update doors set n = 3`)
    })
    expect(isDatabaseAway(await suspended.catch((error: unknown) => error))).toBe(true)
    expect(await w.db.value(Type.Integer(), sql`select n from doors`)).toBe(2)
  })

  test('a statement within limits is a transaction of its own, and leaves its connection as it was', async () => {
    await using w = await world({ own: true, env: {} })
    await w.db.run(sql`create table numbers (n int primary key)`)
    const within = w.db.within({ statementMs: 200, lockMs: 100 })
    const Limits = Type.Object({ statements: Type.String(), locks: Type.String(), isOpen: Type.Boolean() })
    const limits = sql`select current_setting('statement_timeout') as statements, current_setting('lock_timeout') as locks,
                              now() <> statement_timestamp() as "isOpen"`
    expect(await within.one(Limits, limits)).toEqual({ statements: '200ms', locks: '100ms', isOpen: true })
    expect(await within.run(sql`insert into numbers values (1), (2)`)).toBe(2)
    const failures = await Promise.all(
      [sql`insert into numbers values (3), (1)`, sql`select pg_sleep(60)`, sql`select pg_terminate_backend(pg_backend_pid())`].map(
        (statement) => within.run(statement).catch((error) => error),
      ),
    )
    expect(failures.map((error) => ['23505', '57014', '57P01'].find((code) => isSqlState(error, code)))).toEqual([
      '23505',
      '57014',
      '57P01',
    ])
    const N = Type.Object({ n: Type.Integer() })
    const all = Array.from({ length: 5 }, () => w.db.many(N, sql`select n from numbers order by n`))
    expect(await Promise.all(all)).toEqual(Array.from({ length: 5 }, () => [{ n: 1 }, { n: 2 }]))
    const later = await w.db.transaction(async (db) => {
      await db.copy(sql`copy numbers (n) from stdin`, ['4\n'])
      return [await db.within({ statementMs: 7 }).many(N, sql`select n from numbers order by n`), await db.one(Limits, limits)]
    })
    expect(later).toEqual([[{ n: 1 }, { n: 2 }, { n: 4 }], { statements: '1min', locks: '0', isOpen: true }])
  })

  test('plans are made again when they are old, or when a table has twice the rows it had', async () => {
    await using w = await world({ own: true, env: {} })
    await w.db.run(sql`create table counted (n int not null)`)
    await w.db.run(sql`create table growing (n int)`)
    await w.db.run(sql`insert into counted values (0)`)
    // What is said to be immutable is evaluated when it is planned.
    await w.db.run(
      sql`create function when_planned() returns int immutable language plpgsql as 'begin return (select n from counted); end'`,
    )
    const plannedAt = async (maxAgeMs: number, rows: number[]) => {
      await using db = openDatabase({ url: w.databaseUrl, connectionsMax: 1, name: 'test', plans: { maxAgeMs, lookEveryMs: 0 } })
      await db.run(sql`update counted set n = 0`)
      const found: number[] = []
      for (const count of rows) {
        await db.run(sql`update counted set n = n + 1`)
        // PostgreSQL would count the rows a second later.
        await db.transaction(async (db) => {
          await db.run(sql`insert into growing select generate_series(1, ${count}::int)`)
          await db.run(sql`select pg_stat_force_next_flush()`)
        })
        found.push(await db.value(Type.Integer(), sql`select when_planned()`))
      }
      return found
    }
    expect(await plannedAt(0, [0, 0])).toEqual([1, 2])
    expect(await plannedAt(3_600_000, [0, 0])).toEqual([1, 1])
    // 1,000 rows are as good as none. Then there are 1,900, 2,100, 4,100 and 4,300.
    expect(await plannedAt(3_600_000, [1000, 900, 200, 2000, 200])).toEqual([1, 1, 3, 3, 5])
  })

  test('a broken connection is not used again', async () => {
    await using w = await world()
    const died = await w.db.transaction((db) => db.run(sql`select pg_terminate_backend(pg_backend_pid())`)).catch((error) => error)
    expect(isSqlState(died, '57P01')).toBe(true)
    expect(await w.db.first(One, sql`select 1 as one`)).toEqual({ one: 1 })
  })
})
