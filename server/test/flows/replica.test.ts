/** Lists are read from a replica. Another database on the same server stands for it, so that what is read there differs. */
import { Type } from 'typebox'
import { expect, inject, test } from 'vitest'
import { openDatabase, sql } from '../../src/infra/postgres/db.ts'
import { openReplica } from '../../src/infra/postgres/replica.ts'
import { cloneTemplate } from '../ground.ts'
import { rowsOf } from '../statements.ts'
import { world } from '../world.ts'

/** A function of this name before that of PostgreSQL makes the database one that lags behind. */
const LAG = `create schema lag; create function lag.pg_is_in_recovery() returns bool language sql as 'select true';
  create function lag.pg_last_wal_replay_lsn() returns pg_lsn language sql as $$ select '0/1'::pg_lsn $$`

test('lists come from the replica, and from the primary when the replica is behind, away or fails', async () => {
  const DATABASE_READ_URL = await cloneTemplate()
  const name = new URL(DATABASE_READ_URL).pathname.slice(1)
  const onServer = (statement: string) => rowsOf(inject('databaseUrl'), statement)
  const reconnect = () => onServer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
  await using w = await world({ own: true, env: { DATABASE_READ_URL } })
  await w.users('kim')
  const listed = async () => {
    const { body } = await w.get('/api/client/users')
    return body.results.map(({ external_id }: { external_id: string }) => external_id)
  }

  expect(await listed()).toEqual([])

  await rowsOf(DATABASE_READ_URL, LAG)
  await onServer(`alter database ${name} set search_path = lag, pg_catalog, public`)
  await reconnect()
  expect(await listed()).toEqual(['kim'])
  await w.advance('6 seconds')
  expect(await listed()).toEqual(['kim'])

  await onServer(`alter database ${name} reset search_path`)
  await reconnect()
  await w.advance('6 seconds')
  await listed()
  await w.advance('6 seconds')
  expect(await listed()).toEqual([])

  await rowsOf(DATABASE_READ_URL, 'drop table users cascade')
  await onServer(`drop database ${name} with (force)`)
  expect(await listed()).toEqual(['kim'])
  await w.advance('6 seconds')
  expect(await listed()).toEqual(['kim'])
})

test('a list is read from the replica whose position was looked at, and not from another one that lags behind', async () => {
  await using w = await world({ own: true })
  await w.users('kim')
  const count = sql`select count(*) from users where project_id = ${w.projectId}`
  await using db = openDatabase({ url: w.databaseUrl, connectionsMax: 2, name: 'reads', isReplica: true, checkRows: true })
  await using replica = openReplica(db, w.clock)

  /** Takes a connection that is free now, or the next one. */
  const hold = (statement = sql`select 1`) => {
    const [held, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const ended = db.transaction(async (tx) => {
      await tx.run(statement)
      held.resolve()
      await end.promise
    })
    const release = () => {
      end.resolve()
      return ended
    }
    return { held: held.promise, release }
  }
  // A connection to a replica whose users are not there yet.
  await rowsOf(w.databaseUrl, `${LAG}; create table lag.users (like public.users)`)
  const behind = hold(sql`set search_path = lag, pg_catalog, public`)
  await behind.held

  const found = await replica.read(w.db, async (read) => {
    // The connection that was looked at would be taken by another request, and that of the other replica be free.
    const other = hold()
    await behind.release()
    const found = await read.value(Type.Integer(), count)
    setImmediate(() => void other.release())
    return found
  })
  expect(found).toBe(1)
  await rowsOf(w.databaseUrl, 'drop schema lag cascade')
})

test('a list whose statements were sent together asks the replica once when one of them is cancelled, whichever error is heard of first', async () => {
  await using w = await world({ own: true })
  await w.db.run(sql`create function cancelled() returns int language plpgsql
                     as $$ begin raise exception 'conflict with recovery' using errcode = '40001'; end $$`)
  await using db = openDatabase({ url: w.databaseUrl, connectionsMax: 2, name: 'reads', isReplica: true, checkRows: true })
  await using replica = openReplica(db, w.clock)
  let asked = 0
  const found = await replica.read(w.db, async (from) => {
    if (from === w.db) return 'primary'
    asked++
    from.run(sql`select cancelled()`).catch(() => undefined)
    return `replica ${await from.value(Type.Integer(), sql`select 1`)}`
  })
  expect([found, asked]).toEqual(['primary', 1])
})
