/** Hosts that vanish: they close nothing and answer nothing. */
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { cloneTemplate } from '../../../test/ground.ts'
import { openSilentProxy } from '../../../test/silent-proxy.ts'
import { systemClock } from '../runtime/clock.ts'
import { isDatabaseAway } from './database-away.ts'
import { openDatabase, sql } from './db.ts'
import { openReplica } from './replica.ts'

/** Over TCP. */
const databaseUrl = async () => Object.assign(new URL(await cloneTemplate()), { search: '' }).href
const one = sql`select 1::int as one`
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  )
const SOON = { lookEveryMs: 50, looks: 3, connectMs: 2000 }

test('when a host vanishes, the statements that it has fail as those of a lost connection, and the next host is used', async () => {
  const url = await databaseUrl()
  await using proxy = await openSilentProxy(url)
  const both = url.replace(new URL(url).host, `${proxy.host},${new URL(url).host}`)
  await using db = openDatabase({ url: both, connectionsMax: 3, name: 'test', clock: systemClock, silence: SOON })
  await db
    .transaction(async (tx) => {
      await tx.run(one)
      // Two others are idle.
      await Promise.all([db.run(one), db.run(one)])
      proxy.vanish()
      const alone = failureOf(db.run(one))
      const copying = failureOf(db.copy(sql`copy schema_migrations from stdin`, ['1\n']))
      const within = await failureOf(tx.run(one))
      for (const failure of [await alone, await copying, within]) expect(isDatabaseAway(failure)).toBe(true)
      throw within
    })
    .catch((error) => expect(isDatabaseAway(error)).toBe(true))
  expect(await db.value(Type.Integer(), one)).toBe(1)
})

test('a statement that takes long is left alone while its host answers', async () => {
  await using db = openDatabase({
    url: await databaseUrl(),
    connectionsMax: 1,
    name: 'test',
    clock: systemClock,
    silence: { ...SOON, lookEveryMs: 20, connectMs: 30_000 },
  })
  expect(await db.value(Type.Integer(), sql`select 1::int as one from pg_sleep(1)`)).toBe(1)
})

test('a host that refuses new connections keeps those that it has: while another one gets answers, and for the whole time that it has to answer', async () => {
  const url = await databaseUrl()
  await using proxy = await openSilentProxy(url)
  const silence = { lookEveryMs: 20, looks: 3, connectMs: 100 }
  await using db = openDatabase({ url: proxy.url, connectionsMax: 2, name: 'test', clock: systemClock, silence })
  await using patient = openDatabase({
    ...{ url: proxy.url, connectionsMax: 1, name: 'test', clock: systemClock },
    silence: { ...silence, connectMs: 30_000 },
  })
  await Promise.all([db.run(one), db.run(one), patient.run(one)])
  proxy.refuseNew()
  let hasEnded = false
  const long = db.value(Type.Integer(), sql`select 1::int as one from pg_sleep(1)`).finally(() => {
    hasEnded = true
  })
  const alone = patient.value(Type.Integer(), sql`select 1::int as one from pg_sleep(1)`)
  const others = async () => {
    while (!hasEnded) await db.run(one)
  }
  expect((await Promise.allSettled([long, alone, others()])).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled'])
})

test('a host whose new connections are closed without a word has vanished', async () => {
  await using proxy = await openSilentProxy(await databaseUrl())
  await using db = openDatabase({
    ...{ url: proxy.url, connectionsMax: 1, name: 'test', clock: systemClock },
    silence: { ...SOON, connectMs: 100 },
  })
  await db.run(one)
  proxy.vanish({ closesNew: true })
  expect(isDatabaseAway(await failureOf(db.run(one)))).toBe(true)
})

test('when a replica vanishes, what it was reading is read from the primary', async () => {
  const url = await databaseUrl()
  await using proxy = await openSilentProxy(url)
  await using primary = openDatabase({ url, connectionsMax: 1, name: 'test' })
  await using replica = openReplica(
    openDatabase({ url: proxy.url, connectionsMax: 1, name: 'test', isReplica: true, clock: systemClock }),
    systemClock,
  )
  const read = () => replica.read(primary, (db) => db.value(Type.Integer(), sql`select inet_server_port()::int as port`))
  const port = await read()
  proxy.vanish()
  expect(await read()).toBe(port)
})
