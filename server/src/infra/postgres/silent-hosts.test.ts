/** Hosts that vanish: they close nothing and answer nothing. */
import dns from 'node:dns'
import pg from 'pg'
import { Type } from 'typebox'
import { expect, onTestFinished, test, vi } from 'vitest'
import { cloneTemplate } from '../../../test/ground.ts'
import { openSilentProxy } from '../../../test/silent-proxy.ts'
import { createTestClock } from '../../../test/test-clock.ts'
import { systemClock } from '../runtime/clock.ts'
import { isDatabaseAway } from './database-away.ts'
import { openDatabase, sql } from './db.ts'
import { openHosts } from './hosts.ts'
import { openReplica } from './replica.ts'
import { watchSilence } from './silent-hosts.ts'

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

/** Lets a name lead to these addresses, one after the other, and then to the last one. */
function resolveTo(name: string, ...addresses: string[]): void {
  const lookup = dns.lookup
  vi.spyOn(dns, 'lookup').mockImplementation(((asked: string, options: { all?: boolean }, done: (...found: unknown[]) => void) => {
    if (asked !== name) return lookup(asked, options as object, done as never)
    const address = addresses.length > 1 ? addresses.shift() : addresses[0]
    process.nextTick(() => (options.all ? done(null, [{ address, family: 4 }]) : done(null, address, 4)))
  }) as typeof dns.lookup)
  onTestFinished(() => void vi.restoreAllMocks())
}

test('of a name that leads to several servers, one that vanishes is found while another one answers', async () => {
  const url = await databaseUrl()
  await using vanishing = await openSilentProxy(url, { address: '127.0.0.2' })
  const { port } = new URL(vanishing.url)
  await using _ = await openSilentProxy(url, { address: '127.0.0.3', port: Number(port) })
  resolveTo('replicas.test', '127.0.0.2', '127.0.0.3')
  await using db = openDatabase({
    ...{ url: Object.assign(new URL(url), { host: `replicas.test:${port}` }).href, connectionsMax: 2, name: 'test', clock: systemClock },
    silence: SOON,
  })
  const failure = await db
    .transaction(async (tx) => {
      await tx.run(one)
      await db.run(one)
      vanishing.vanish()
      let hasEnded = false
      const stuck = failureOf(tx.run(one)).finally(() => {
        hasEnded = true
      })
      while (!hasEnded) await db.run(one)
      throw await stuck
    })
    .catch((error: unknown) => error)
  expect(isDatabaseAway(failure)).toBe(true)
})

test('a process that was busy while it asked a host asks again', async () => {
  const url = await databaseUrl()
  const hosts = openHosts(url)
  const pool = new pg.Pool({ Client: hosts.Client as never, max: 1 })
  let asked = 0
  const answers: typeof hosts.answers = (...given) => {
    const answer = hosts.answers(...given)
    const until = performance.now() + (asked++ === 0 ? 1200 : 0)
    while (performance.now() < until);
    return answer
  }
  watchSilence(pool, { ...hosts, answers }, systemClock, { silence: { lookEveryMs: 20, looks: 3, connectMs: 1000 } })
  expect((await pool.query('select pg_sleep(2)')).rowCount).toBe(1)
  await pool.end()
  expect(asked).toBeGreaterThan(0)
})

test('when the pool is closed, connections to a host that has vanished are closed, although the host closes nothing', async () => {
  const clock = createTestClock()
  await using proxy = await openSilentProxy(await databaseUrl())
  const db = openDatabase({ url: proxy.url, connectionsMax: 1, name: 'test', clock })
  await db.run(one)
  proxy.vanish()
  const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length
  const before = sockets()
  await db[Symbol.asyncDispose]()
  clock.advance('2 seconds')
  await expect.poll(sockets, { timeout: 5000 }).toBeLessThan(before)
})

test('a check that cannot be made, because a certificate cannot be read, says nothing against its host', async () => {
  const url = `${await databaseUrl()}?sslrootcert=/nowhere/ca.pem`
  expect(await openHosts(url).answers(0, 1000)).toBe(true)
})
