import { Type } from 'typebox'
import { expect, inject, test } from 'vitest'
import { cloneTemplate } from '../../../test/ground.ts'
import { openPooler } from '../../../test/pooler.ts'
import { rowsOf } from '../../../test/statements.ts'
import { connectionProblem } from './connection-problem.ts'
import { isDatabaseAway } from './database-away.ts'
import { openDatabase, sql } from './db.ts'
import { connectTo } from './hosts.ts'

const CLOSED = '127.0.0.1:1'
const settings = sql`select concat_ws(' ', current_setting('TimeZone'), current_setting('enable_seqscan'), current_setting('jit'),
  current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'), current_setting('plan_cache_mode')) as is`
const OURS = 'UTC off off 1min 1min auto'

/** A URL with these hosts before those of the database over TCP. */
function behind(url: string, hosts: string, query = ''): string {
  const { host } = new URL(url)
  return Object.assign(new URL(url), { search: query }).href.replace(host, `${hosts},${host}`)
}

test('of several hosts, those that cannot be reached are passed over', async () => {
  const url = await cloneTemplate()
  await using db = openDatabase({ url: behind(url, CLOSED), connectionsMax: 2, name: 'test' })
  expect(await db.value(Type.String(), settings)).toBe(OURS)
  const client = await connectTo(behind(url, `${CLOSED},${CLOSED}`))
  await client.end()
})

test('options of the URL hold beside ours', async () => {
  const url = new URL(await cloneTemplate())
  url.searchParams.set('options', '-c jit=on -c work_mem=7MB')
  await using db = openDatabase({ url: url.href, connectionsMax: 1, name: 'test' })
  expect(await db.value(Type.String(), settings)).toBe(OURS)
  expect(await db.value(Type.String(), sql`select current_setting('work_mem')`)).toBe('7MB')
})

test('of several hosts, one is used that accepts writes, and another one when it stops to', async () => {
  const url = await cloneTemplate()
  const name = new URL(url).pathname.slice(1)
  const { host } = new URL(url)
  // The same server by two names: what decides is what a connection reports.
  await rowsOf(inject('databaseUrl'), `alter database ${name} set default_transaction_read_only = on`)
  await using db = openDatabase({ url: behind(url, host), connectionsMax: 2, name: 'test' })
  const refused = await db.run(settings).catch((error) => error)
  expect(refused.message).toBe('This PostgreSQL does not accept writes.')
  expect(isDatabaseAway(refused)).toBe(true)
  expect((connectionProblem(refused, behind(url, host)) as Error).message).toContain(`It is at ${host} or ${host}.`)
  await using reading = openDatabase({ url: behind(url, host, '?target_session_attrs=any'), connectionsMax: 2, name: 'test' })
  expect(await reading.value(Type.String(), settings)).toBe(OURS)
  await rowsOf(inject('databaseUrl'), `alter database ${name} set default_transaction_read_only = off`)
  expect(await db.value(Type.String(), settings)).toBe(OURS)
})

test('the database is away when PostgreSQL crashes behind a pooler, and a mistake of ours is none', async () => {
  const url = await cloneTemplate()
  await using pooler = await openPooler(url)
  await using db = openDatabase({ url: pooler.url, connectionsMax: 2, name: 'test', pooled: true, unnamed: true })
  const running = db.run(sql`select pg_sleep(60)`).catch((error: unknown) => error)
  const sleeping = `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`
  await expect.poll(async () => (await rowsOf(url, sleeping)).length).toBe(1)
  pooler.crash()
  expect(isDatabaseAway(await running)).toBe(true)
  expect(await db.value(Type.String(), settings)).toBe(OURS)
  const mistake = await db.run(sql`do $$ begin raise 'x' using errcode = '08P01'; end $$`).catch((error: unknown) => error)
  expect(isDatabaseAway(mistake)).toBe(false)
})

test.each(['EAI_AGAIN', 'ENETUNREACH', 'EADDRNOTAVAIL'])('the database is away when connecting fails with %s', (code) => {
  const failed = [Object.assign(new Error(code), { code })]
  // Of a host with several addresses, it is the code of the first one.
  for (const error of [...failed, Object.assign(new AggregateError(failed), { code })]) expect(isDatabaseAway(error)).toBe(true)
})

test('through a pooler nothing is asked of a session, and every statement has its settings', async () => {
  await using pooler = await openPooler(await cloneTemplate())
  await using db = openDatabase({ url: pooler.url, connectionsMax: 1, name: 'test', pooled: true, unnamed: true })
  expect(await db.value(Type.String(), settings)).toBe(OURS)
  expect(await db.within({ statementMs: 5000 }).value(Type.String(), settings)).toBe(OURS.replace('1min', '5s'))
  await db.transaction(async (db) => {
    expect(await db.value(Type.String(), settings)).toBe(OURS)
    await db.run(sql`create table bells (id int)`)
  })
  expect(await db.copy(sql`copy bells from stdin`, ['1\n', '2\n'])).toBe(2)
  expect(await db.value(Type.Integer(), sql`select count(*) from bells`)).toBe(2)
  expect(await db.value(Type.Integer(), sql`select count(*) from pg_prepared_statements`)).toBe(0)
  expect(pooler.asked.map((parameters) => Object.keys(parameters).sort())).toEqual([
    ['application_name', 'client_encoding', 'database', 'user'],
  ])
})

test('a limit on transactions that the database has does not hold, through a pooler neither', async ({ skip }) => {
  const known = await rowsOf(inject('databaseUrl'), `select from pg_settings where name = 'transaction_timeout'`)
  skip(known.length === 0, 'PostgreSQL 16 has no such limit.')
  const url = await cloneTemplate()
  await rowsOf(inject('databaseUrl'), `alter database ${new URL(url).pathname.slice(1)} set transaction_timeout = '7s'`)
  const limit = sql`select current_setting('transaction_timeout') as is`
  await using direct = openDatabase({ url, connectionsMax: 1, name: 'test' })
  await using pooler = await openPooler(url)
  await using pooled = openDatabase({ url: pooler.url, connectionsMax: 1, name: 'test', pooled: true, unnamed: true })
  for (const db of [direct, pooled]) {
    expect(await db.value(Type.String(), limit)).toBe('0')
    expect(await db.transaction((db) => db.value(Type.String(), limit), { pipelined: true })).toBe('0')
  }
})

test('a connection that is not in UTC, although it was asked for, is not used', async () => {
  const url = await cloneTemplate()
  await rowsOf(inject('databaseUrl'), `alter database ${new URL(url).pathname.slice(1)} set timezone = 'Asia/Kolkata'`)
  await using pooler = await openPooler(url)
  await using db = openDatabase({ url: pooler.url, connectionsMax: 1, name: 'test' })
  await expect(db.run(settings)).rejects.toThrow('The time zone of the connection to PostgreSQL is Asia/Kolkata')
  await using direct = openDatabase({ url, connectionsMax: 1, name: 'test' })
  expect(await direct.value(Type.String(), settings)).toBe(OURS)
})
