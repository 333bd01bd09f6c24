/** What a server with nothing to do costs: statements per second, and the processor time of the server and of PostgreSQL. */
import { type BenchServer, postgresPids, report, startServer, ticksOf } from './support.ts'

const WARM_UP_MS = 25_000
/** Several times `JOB_POLL_S`, by which all jobs look for work together. */
const MEASURED_MS = 60_000
/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10

export async function idle(): Promise<void> {
  await using server = await startServer()
  await pause(WARM_UP_MS)
  const scrape = (await statements(server)) - (await statements(server))
  const before = { statements: await statements(server), node: await nodeTicks(server), postgres: await postgresTicks(server) }
  const started = performance.now()
  await pause(MEASURED_MS)
  const seconds = (performance.now() - started) / 1000
  const share = (ticks: number) => (ticks * TICK_MS) / (seconds * 10)
  const node = share((await nodeTicks(server)) - before.node)
  const postgres = share((await postgresTicks(server)) - before.postgres)
  // Reading the metrics runs statements too.
  const run = (await statements(server)) - before.statements + scrape
  report('idle, statements per second', run / seconds, `${run} in ${seconds.toFixed(0)} s`, '≤ 5')
  report('idle, % of a core', node + postgres, `server ${node.toFixed(2)}, PostgreSQL ${postgres.toFixed(2)}`, '≤ 1')
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** How many statements the server has run since its start. */
async function statements({ url }: BenchServer): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^app_db_statement_duration_seconds_count(?:\{.*\})? (\d+)/m.exec(text)?.[1])
}

const nodeTicks = async ({ pid }: BenchServer): Promise<number> => ticksOf(pid)

/** The time of all processes of PostgreSQL, with those that have ended. */
async function postgresTicks(server: BenchServer): Promise<number> {
  const ticks = await Promise.all((await postgresPids(server)).map((pid, at) => ticksOf(pid, at === 0)))
  return ticks.reduce((sum, one) => sum + one, 0)
}
