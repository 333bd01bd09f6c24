/**
 * How the rate of a blast changes with the number of its recipients. The messages of the smaller blasts stay in the database while the large
 * one is sent. `BENCH_USERS` is the size of the large one.
 */
import pg from 'pg'
import { provider, send } from './blast.ts'
import { caller, listOfAll, makeUsers, peakMemory, trackEverything } from './sending.ts'
import { median, report, startServer } from './support.ts'

const SMALL = 10_000
const LARGE = Number(process.env.BENCH_USERS ?? 1_000_000)
const SMALL_BLASTS = 5

export async function blastGrowth(): Promise<void> {
  await using server = await startServer()
  const db = new pg.Client({ connectionString: server.databaseUrl })
  db.on('error', () => undefined)
  await db.connect()
  const call = caller(server)
  await trackEverything(call, server)
  const discard = await provider(call, 'discard', {})
  await makeUsers(db, SMALL)
  const few = await listOfAll(call)
  const small = await median(SMALL_BLASTS, async () => (await send(server, call, db, few, discard, SMALL)).rate)
  await makeUsers(db, LARGE - SMALL, SMALL)
  const all = await listOfAll(call)
  const { rate, loading, p99 } = await send(server, call, db, all, discard, LARGE)
  report(
    `blast to ${LARGE} users, rate against ${SMALL}`,
    rate / small,
    `${Math.round(rate)} and ${Math.round(small)} messages/s; audience ${loading.toFixed(0)} s; p99 of GET ${p99.toFixed(0)} ms; ${await peakMemory(server)} MB`,
    '≥ 0.9',
  )
  await db.end()
}
