/**
 * A server that sends a blast is killed again and again. Nobody is written to twice, nobody is forgotten, and of whom nobody can
 * know it the ledger says so. `BLAST_PEOPLE=100000 BLAST_KILLS=20` makes it a long one.
 */
import { expect, test } from 'vitest'
import { systemClock } from '../../src/infra/runtime/clock.ts'
import { embeddedUrl, someSecretKey, startChild, temporaryDir } from '../child-server.ts'
import { openRelay } from '../relay.ts'
import { caller, expectReconciled, finished, prepareBlast, settledIn, takenBy } from './blast.ts'

const USERS = Number(process.env.BLAST_PEOPLE ?? 900)
const KILLS = Number(process.env.BLAST_KILLS ?? 3)
const BETWEEN_KILLS_MS = Number(process.env.BLAST_BETWEEN_MS ?? 700)
const RATE = process.env.BLAST_PEOPLE ? null : { limit: 300, interval_seconds: 1 }
/** Three slices of a hundred are under way at a time. */
const IN_FLIGHT_MAX = 300

const pause = (ms: number) => systemClock.sleep(ms)

test('a blast whose server is killed every moment is finished with totals that are true, and nobody got it twice', {
  timeout: 60_000 + USERS * 5,
}, async () => {
  await using dir = await temporaryDir()
  await using relay = await openRelay()
  const key = someSecretKey()
  const start = () => startChild({ dataDir: dir.path, env: { BOOTSTRAP_SECRET_KEY: key, MESSAGE_LEASE_S: '2' } })
  let campaign = 0
  {
    await using server = await start()
    const call = caller(server.url, key)
    campaign = await prepareBlast(call, USERS, relay, RATE)
    await call('PATCH', `/campaigns/${campaign}`, { state: 'scheduled' })
    await pause(BETWEEN_KILLS_MS)
    await server.end('SIGKILL')
  }
  for (let kill = 1; kill < KILLS; kill++) {
    await using server = await start()
    await pause(BETWEEN_KILLS_MS)
    await server.end('SIGKILL')
  }
  await using server = await start()
  const call = caller(server.url, key)
  await finished(call, campaign, 50_000 + USERS * 4)
  const rows = await settledIn(embeddedUrl(dir.path), campaign)
  const { delivery } = await call('GET', `/campaigns/${campaign}`)
  expectReconciled(rows, delivery, takenBy(relay), USERS)
  const states = new Set(rows.map(({ state }) => state))
  expect([...states].filter((state) => state !== 'sent' && state !== 'unknown')).toEqual([])
  expect(rows.filter(({ state }) => state === 'unknown').length).toBeLessThanOrEqual(KILLS * IN_FLIGHT_MAX)
  expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null })
})

test('a server killed between the relay’s answer and the commit leaves that batch unknown, touches nobody else and writes to nobody twice', {
  timeout: 60_000,
}, async () => {
  const users = 150
  await using dir = await temporaryDir()
  await using relay = await openRelay()
  const key = someSecretKey()
  const start = () => startChild({ dataDir: dir.path, env: { BOOTSTRAP_SECRET_KEY: key, MESSAGE_LEASE_S: '2' } })
  let campaign = 0
  {
    await using server = await start()
    const call = caller(server.url, key)
    campaign = await prepareBlast(call, users, relay, null)
    // The relay takes mails and keeps its answers to itself: whatever it has taken cannot have been committed.
    const release = relay.hold()
    await call('PATCH', `/campaigns/${campaign}`, { state: 'scheduled' })
    await expect.poll(() => relay.taking(), { timeout: 20_000 }).toBeGreaterThan(0)
    await server.end('SIGKILL')
    release()
  }
  await using server = await start()
  await finished(caller(server.url, key), campaign, 30_000)
  const rows = await settledIn(embeddedUrl(dir.path), campaign)
  const unknown = rows.filter(({ state }) => state === 'unknown')
  expect(unknown.length).toBeGreaterThan(0)
  expect(unknown.every(({ reason }) => reason === 'sender_lost')).toBe(true)
  expectReconciled(rows, (await caller(server.url, key)('GET', `/campaigns/${campaign}`)).delivery, takenBy(relay), users)
})
