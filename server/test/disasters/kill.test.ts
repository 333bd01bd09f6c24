/** `kill -9` at any moment loses nothing that was acknowledged, and nothing is applied twice. `KILL_SEED` sets the seed. */
import { expect, test } from 'vitest'
import { embeddedUrl, postgresProcesses, someSecretKey, startChild, temporaryDir } from '../child-server.ts'
import { belowOf, seedFrom } from '../random.ts'
import { allApplied, createRequestLog, expectKept, send, startLoad } from './load.ts'

const SEED = seedFrom('KILL_SEED')
const CALLERS = 16

test('a server killed four times, twice with its database, applies everything it acknowledged exactly once', {
  timeout: 120_000,
}, async () => {
  await using dir = await temporaryDir()
  const below = belowOf(SEED)
  const about = `KILL_SEED=${SEED}`
  const key = someSecretKey()
  const start = () => startChild({ dataDir: dir.path, env: { BOOTSTRAP_SECRET_KEY: key } })
  const requests = createRequestLog()
  let killedInFlight = 0

  for (const victims of ['server', 'server, database', 'server', 'database, server']) {
    await using server = await start()
    const load = startLoad(requests, [server.url], key, CALLERS, below)
    await load.acknowledged(20 + below(400))
    const processes = { server: [server.pid], database: victims.includes('database') ? postgresProcesses(dir.path) : [] }
    await load.acknowledged(1 + below(100))
    const before = requests.unanswered.length
    // One after the other at once, so that there is no time to apply the last acknowledged requests.
    for (const victim of victims.split(', ') as (keyof typeof processes)[]) processes[victim].forEach(kill)
    await server.end('SIGKILL')
    await load.stop()
    killedInFlight += requests.unanswered.length - before
  }

  await using server = await start()
  // Requests with an Idempotency-Key and without a reply are sent again, and must be applied once.
  const again = requests.unanswered.filter(({ idempotencyKey }) => idempotencyKey)
  requests.unanswered = requests.unanswered.filter(({ idempotencyKey }) => !idempotencyKey)
  for (const request of again) expect(await send(requests, server.url, key, request)).toBe(true)

  const databaseUrl = embeddedUrl(dir.path)
  await allApplied(databaseUrl)
  await expectKept(requests, databaseUrl, about)
  expect(requests.acknowledged.length, about).toBeGreaterThan(80)
  expect(killedInFlight, `${about}: a request was in flight when the server was killed`).toBeGreaterThan(0)
  expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null })
})

/** Kills a process, unless it has ended already. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
