import type { Writable } from 'node:stream'
import pg from 'pg'
import { Type } from 'typebox'
import { describe, expect, test } from 'vitest'
import { world } from '../../../test/world.ts'
import { textOf, valueIn } from '../../lib/row-bytes.ts'
import { isSqlState, openDatabase, type Sql, sql } from './db.ts'
import { openHosts } from './hosts.ts'
import { setPipelined } from './limits.ts'

const named = (name: string, text: string, ...values: unknown[]) => ({ name, text, values })

async function connected(url: string, isOurs = true) {
  const client = isOurs ? new (openHosts(url, { keepsStatements: true }).Client)() : new pg.Client({ connectionString: url })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

describe('rows are those of the driver', () => {
  test.each([
    ['integers', `select v::int2 as a, v::int4 as b, v::int8 as c from unnest(array[0, -1, 7, 32767, -32768, null]) v`],
    [
      'large integers',
      'select unnest(array[999999999999999, -999999999999999, 9007199254740991, -9007199254740991, 123456789012345]) as v',
    ],
    ['other numbers', `select 1.5::float8 as a, -0.25::float4 as b, 12.340::numeric as c, 'NaN'::float8 as d, 4294967295::oid as e`],
    ['booleans', 'select true as a, false as b, null::bool as c, array[true, null] as d'],
    ['texts', `select unnest(array['', 'it''s "quoted" \\ ', 'Zoë 😀 ünïcode', E'a\\nb\\tc', null]) as v`],
    ['other texts', `select 'ab'::varchar(5) as a, 'ab'::char(5) as b, 'users'::name as c, 'x'::"char" as d`],
    ['instants', `select unnest(array['2026-11-20 02:56:21.664+00', '1970-01-01 00:00+00', null]::timestamptz[]) as v`],
    ['JSON', `select '{"a": [1, "é", null]}'::jsonb as a, '"x"'::json as b, null::jsonb as c`],
    ['arrays and bytes', `select array['a', 'b "c"', null] as a, array[1, 2]::int8[] as b, '\\x00ff'::bytea as c`],
    ['a column twice, and without a name', 'select 1 as a, 2 as b, 3 as a, 4'],
    ['names that are no identifiers', `select 1 as "a""b'c\\d\`\${x}", 2 as "__proto__", 3 as "ü"`],
    ['no columns', 'select from generate_series(1, 3)'],
    ['no rows', 'select 1 as a where false'],
    ['nothing to return', 'delete from users where false'],
    ['a large value', `select repeat('é', 300000) as a, 1 as b from generate_series(1, 3)`],
    ['many rows', `select n, repeat('x', n % 300) as text from generate_series(1, 5000) n`],
  ])('%s', async (_, text) => {
    await using w = await world()
    await using driver = await connected(w.databaseUrl, false)
    await using ours = await connected(w.databaseUrl)
    const { rows, rowCount } = await driver.query(named('theirs', text))
    for (const time of ['first', 'second', 'third']) {
      const found = await ours.query(named('ours', text))
      expect([time, found.rows, found.rowCount]).toEqual([time, rows, rowCount])
      expect(found.rows.map((row) => Object.keys(row))).toEqual(rows.map((row) => Object.keys(row)))
    }
  })

  test('parameters are written as the driver writes them, however large they are', async () => {
    await using w = await world()
    await using ours = await connected(w.databaseUrl)
    const ask = (text: unknown) =>
      ours.query(named('echo', 'select $1::text as text, $2::int[] as list, $3::jsonb as json', text, [1, 2], { a: 'é' }))
    for (const text of ['a', null, "it's é", 'é'.repeat(100_000), 'b']) {
      expect((await ask(text)).rows).toEqual([{ text, list: [1, 2], json: { a: 'é' } }])
    }
  })
})

describe('a statement that is known', () => {
  test('is sent in one write, which asks for no columns', async () => {
    await using w = await world()
    await using ours = await connected(w.databaseUrl)
    const { stream } = (ours as unknown as { connection: { stream: Writable } }).connection
    const sent: string[] = []
    const write = stream.write.bind(stream) as (bytes: Buffer) => boolean
    stream.write = ((bytes: Buffer) => {
      sent.push(kindsOf(bytes))
      return write(bytes)
    }) as typeof stream.write
    for (const n of [1, 2, 3]) await ours.query(named('one', 'select $1::int as n', n))
    expect(sent).toEqual(['Parse Bind Describe Execute Sync', 'Bind Execute Sync', 'Bind Execute Sync'])
  })

  test('works again after an error in its rows, its values or its text', async () => {
    await using w = await world()
    await using ours = await connected(w.databaseUrl)
    const divide = (n: unknown) => ours.query(named('divide', 'select 6 / $1::int as n', n)).then(({ rows }) => rows)
    const circular: unknown[] = []
    circular.push(circular)
    await expect(divide(0)).rejects.toThrow('division by zero')
    expect(await divide(3)).toEqual([{ n: 2 }])
    await expect(divide(0)).rejects.toThrow('division by zero')
    await expect(divide(circular)).rejects.toThrow('call stack')
    await expect(divide('x')).rejects.toThrow('invalid input syntax')
    await expect(ours.query(named('wrong', 'select nothing'))).rejects.toThrow('does not exist')
    await expect(ours.query(named('wrong', 'select nothing'))).rejects.toThrow('does not exist')
    await expect(ours.query(named('unsafe', 'select 9007199254740993 as n'))).rejects.toThrow('out of the safe range')
    expect(await divide(2)).toEqual([{ n: 3 }])
  })

  test('has an error with the stack of its caller', async () => {
    await using w = await world()
    await using ours = await connected(w.databaseUrl)
    const theCaller = async () => void (await ours.query(named('wrong', 'select nothing')))
    expect((await theCaller().catch((error) => error)).stack).toContain('theCaller')
  })

  test('is sent ahead several times before it is known', async () => {
    await using w = await world()
    await using ours = await connected(w.databaseUrl)
    setPipelined(ours, true)
    const asked = [1, 2, 0, 3].map((n) => ours.query(named('ahead', 'select 6 / $1::int as n', n)))
    const outcomes = await Promise.allSettled(asked)
    expect(outcomes.map((one) => (one.status === 'fulfilled' ? one.value.rows : 'failed'))).toEqual([
      [{ n: 6 }],
      [{ n: 3 }],
      'failed',
      [{ n: 2 }],
    ])
  })
})

test('rows as bytes are the same with a pooler, without columns, without rows, and while others are read', async () => {
  await using w = await world({ own: true, env: {} })
  const all = sql`select n::text, nullif(n % 3, 0)::text as rest, repeat('é"', n) as text from generate_series(1, ${300}::int) n`
  const texts = Array.from({ length: 300 }, (_, at) => [String(at + 1), (at + 1) % 3 ? String((at + 1) % 3) : null, 'é"'.repeat(at + 1)])
  for (const unnamed of [false, true]) {
    await using db = openDatabase({ url: w.databaseUrl, connectionsMax: 2, name: 'test', pooled: unnamed, unnamed })
    const read = async (statement: Sql) => {
      const rows = await db.bytes(statement)
      await db.value(Type.Integer(), sql`select 1 as one`)
      const found = rows.starts.map((start) => rows.names.map((name) => valueIn(rows, start, name, textOf)))
      rows.release()
      rows.release()
      return found
    }
    for (let time = 0; time < 3; time++) {
      expect(await Promise.all([read(all), read(sql`select '7' as n`), read(all), read(sql`select 1 as n where false`)])).toEqual([
        texts,
        [['7']],
        texts,
        [],
      ])
    }
    await expect(db.bytes(sql`select 1 / (n - 2) from generate_series(1, 2) n`)).rejects.toThrow('division by zero')
  }
})

test('a statement whose columns were changed fails once, on a connection that is not used again', async () => {
  await using w = await world({ own: true, env: {} })
  await using db = openDatabase({ url: w.databaseUrl, connectionsMax: 1, name: 'test' })
  await db.run(sql`drop table if exists altered`)
  await db.run(sql`create table altered (n int)`)
  await db.run(sql`insert into altered values (1)`)
  const all = () => db.many(Type.Any(), sql`select * from altered`)
  expect([await all(), await all()]).toEqual([[{ n: 1 }], [{ n: 1 }]])
  await db.run(sql`alter table altered alter column n type text, add column more boolean default true`)
  expect(isSqlState(await all().catch((error) => error), '0A000')).toBe(true)
  expect(await all()).toEqual([{ n: '1', more: true }])
  // Other files look at all tables of the database.
  await db.run(sql`drop table altered`)
})

const KINDS: Record<string, string> = { P: 'Parse', B: 'Bind', D: 'Describe', E: 'Execute', S: 'Sync' }

/** The messages in what is written to PostgreSQL. */
function kindsOf(bytes: Buffer): string {
  const kinds: string[] = []
  for (let at = 0; at < bytes.length; at += 1 + bytes.readInt32BE(at + 1))
    kinds.push(KINDS[String.fromCharCode(bytes[at] as number)] ?? '?')
  return kinds.join(' ')
}
