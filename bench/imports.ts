/** Importing users and undoing that, at two sizes, and what events wait for meanwhile. */
import { request } from 'undici'
import { type BenchServer, report, startServer } from './support.ts'

const SIZES = (process.env.BENCH_ROWS ?? '100000,300000').split(',').map(Number)
const EVENT_GAP_MS = 50

export async function imports(): Promise<void> {
  const rates: { imported: number; undone: number }[] = []
  for (const rows of SIZES) {
    await using server = await startServer()
    rates.push(await measured(server, rows))
  }
  const [small, large] = [rates[0], rates.at(-1)]
  if (!small || !large || small === large) return
  // A rate that stays the same means that the time grows with the rows.
  report('import: rows a second, large to small', large.imported / small.imported, `${SIZES[0]} and ${SIZES.at(-1)} rows`, '≥ 0.8')
  report('undo: changes a second, large to small', large.undone / small.undone, `${SIZES[0]} and ${SIZES.at(-1)} rows`, '≥ 0.8')
}

async function measured(server: BenchServer, rows: number) {
  const { id: list } = await api(server, 'POST', '/lists', { name: 'Bench', type: 'static' })
  const idle = await eventsUntil(server, new Promise((resolve) => setTimeout(resolve, 3000)))
  const file = ['external_id,email,plan,data.visits:number']
  for (let row = 0; row < rows; row++) file.push(`p${row},p${row}@example.com,plan-${row % 10},${row % 100}`)
  const { id } = await api(server, 'POST', `/lists/${list}/import`, file.join('\n'), 'text/csv')
  const path = `/lists/${list}/imports/${id}`
  const imported = await timed(() => eventsUntil(server, stateOf(server, path, 'finished')))
  report(`import of ${rows} rows`, null, about(rows, imported))
  report('events while importing', imported.result.p99 / Math.max(1, idle.p99), waits(imported.result, idle))
  await api(server, 'POST', `${path}/undo`)
  const undone = await timed(() => eventsUntil(server, stateOf(server, path, 'undone')))
  report(`undo of ${rows} rows`, null, about(rows, undone))
  report('events while undoing', undone.result.p99 / Math.max(1, idle.p99), waits(undone.result, idle))
  return { imported: rows / imported.seconds, undone: rows / undone.seconds }
}

const about = (rows: number, { seconds }: { seconds: number }) => `${seconds.toFixed(1)} s, ${Math.round(rows / seconds)} a second`

type Waits = { p50: number; p99: number; count: number }

const waits = ({ p50, p99, count }: Waits, idle: Waits) =>
  `an event is applied after ${Math.round(p50)} ms, 99% within ${Math.round(p99)} ms, of ${count}; idle ${Math.round(idle.p99)} ms`

async function timed<T>(work: () => Promise<T>): Promise<{ seconds: number; result: T }> {
  const started = performance.now()
  const result = await work()
  return { seconds: (performance.now() - started) / 1000, result }
}

/** Sends an event of one user at a time, and waits until it is applied, until the work is done. */
async function eventsUntil(server: BenchServer, work: Promise<unknown>): Promise<Waits> {
  let isDone = false
  const ends = work.finally(() => {
    isDone = true
  })
  const times: number[] = []
  for (let no = 0; !isDone; no++) {
    const name = `seen-${times.length}-${no}`
    const started = performance.now()
    await api(server, 'POST', '/events', [{ name: 'seen', external_id: 'watcher', user: { data: { last: name } } }])
    while ((await lastOf(server)) !== name) await new Promise((resolve) => setTimeout(resolve, 5))
    times.push(performance.now() - started)
    await new Promise((resolve) => setTimeout(resolve, EVENT_GAP_MS))
  }
  await ends
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
  return { p50: at(0.5), p99: at(0.99), count: times.length }
}

async function lastOf(server: BenchServer): Promise<unknown> {
  const { statusCode, body } = await call(server, 'GET', '/users/watcher')
  const text = await body.text()
  return statusCode === 404 ? undefined : JSON.parse(text).data.last
}

async function stateOf(server: BenchServer, path: string, state: string): Promise<void> {
  while ((await api(server, 'GET', path)).state !== state) await new Promise((resolve) => setTimeout(resolve, 200))
}

const call = (server: BenchServer, method: 'GET' | 'POST', path: string, body?: unknown, type = 'application/json') =>
  request(`${server.url}/api/client${encodeURI(path)}`, {
    method,
    headers: { authorization: `Bearer ${server.secretKey}`, ...(body !== undefined && { 'content-type': type }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })

async function api(server: BenchServer, method: 'GET' | 'POST', path: string, body?: unknown, type?: string) {
  const reply = await call(server, method, path, body, type)
  const text = await reply.body.text()
  if (reply.statusCode >= 300) throw new Error(`${method} ${path}: ${text}`)
  // biome-ignore lint/suspicious/noExplicitAny: replies of the API have no type here.
  return (text === '' ? undefined : JSON.parse(text)) as any
}
