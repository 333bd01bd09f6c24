/** Shared by all benchmarks: a server, a load generator and a report. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import type { Client, Pool as PgPool } from 'pg'
import { Pool } from 'undici'

/** `BENCH_PROFILE` is a folder to which the server writes a CPU profile. */
const profiling = process.env.BENCH_PROFILE ? ['--cpu-prof', `--cpu-prof-dir=${process.env.BENCH_PROFILE}`] : []

/** As `npm start` has them. */
const HEAP_OPTIONS = ['--max-semi-space-size=16', '--heap-growing-percent=60']

const main = new URL('../server/src/main.ts', import.meta.url).pathname

export type BenchServer = AsyncDisposable & { url: string; pid: number; secretKey: string; databaseUrl: string; dataDir: string }

/** Starts a server with a new data directory and without rate limits, and waits until it is ready. */
export async function startServer(env: Record<string, string> = {}, dataDir?: string): Promise<BenchServer> {
  const dir = dataDir ?? (await mkdtemp(join(tmpdir(), 'carillon-bench-')))
  const child = spawn(process.execPath, [...profiling, ...HEAP_OPTIONS, main, 'all'], {
    env: { ...process.env, DATA_DIR: dir, PORT: '0', LOG_LEVEL: 'warn', RATE_READ: '0', RATE_WRITE: '0', RATE_ALL_PER_MIN: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await readyUrl(child.stdout as NodeJS.ReadableStream)
  const { secret_key } = JSON.parse(await readFile(join(dir, 'credentials.json'), 'utf8'))
  return {
    url,
    pid: child.pid as number,
    secretKey: secret_key,
    databaseUrl: await databaseUrlOf(dir),
    dataDir: dir,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await once(child, 'exit')
      if (!dataDir) await rm(dir, { recursive: true, force: true })
    },
  }
}

/** The URL of a server that says it is ready. */
export function readyUrl(output: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  return new Promise((resolve, reject) => {
    output.on('data', (chunk: Buffer) => {
      text += chunk
      const url = /ready at (\S+);/.exec(text)?.[1]
      if (url) resolve(url)
    })
    output.on('end', () => reject(new Error(`The server ended before it was ready:\n${text}`)))
  })
}

/** The embedded PostgreSQL of a data directory. */
export async function databaseUrlOf(dir: string): Promise<string> {
  const { port, password } = JSON.parse(await readFile(join(dir, 'postgres.json'), 'utf8'))
  return `postgres://carillon:${password}@127.0.0.1:${port}/carillon?host=${encodeURIComponent(await realpath(join(dir, 'postgres')))}`
}

export type LoadResult = { requests: number; seconds: number; p50: number; p99: number; failures: number }

/** Sends requests over several connections, one at a time on each. */
export async function load(
  url: string,
  connections: number,
  requests: number,
  requestOf: (index: number) => { method: string; path: string; headers: Record<string, string>; body?: Buffer | string },
): Promise<LoadResult> {
  const pool = new Pool(url, { connections, pipelining: 1 })
  const times: number[] = []
  let next = 0
  let failures = 0
  const started = performance.now()
  const connection = async () => {
    for (let index = next++; index < requests; index = next++) {
      const at = performance.now()
      const { statusCode, body } = await pool.request(requestOf(index) as Parameters<Pool['request']>[0])
      await body.dump()
      if (statusCode >= 300) failures++
      times.push(performance.now() - at)
    }
  }
  await Promise.all(Array.from({ length: connections }, connection))
  const seconds = (performance.now() - started) / 1000
  await pool.close()
  times.sort((a, b) => a - b)
  return { requests, seconds, failures, p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
}

/** The value below which a fraction `part` of the sorted numbers lies. */
const quantile = (sorted: number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN

/** Stores users `customer-1` and so on, a tenth of them with the plan `pro`, with the text by which they are searched. */
export async function seedUsers(db: Client | PgPool, users: number): Promise<void> {
  await db.query(
    `insert into users (project_id, external_id, email, phone, timezone, locale, data, created_at, updated_at)
     select 1, 'customer-' || i, 'user' || i || '@example.com', '+614' || lpad(i::text, 8, '0'), 'Australia/Sydney', 'en-AU',
            jsonb_build_object('plan', case when i % 10 = 0 then 'pro' else 'free' end, 'visits', i % 100), now(), now()
     from generate_series(1, $1::int) i`,
    [users],
  )
  await db.query(
    `insert into user_search (user_id, project_id, text) select id, project_id, concat_ws(E'\\x1f', external_id, email, phone) from users`,
  )
  await db.query('vacuum analyze users, user_search')
}

/** The median of several runs. */
export async function median(times: number, measure: () => Promise<number>): Promise<number> {
  const values: number[] = []
  for (let i = 0; i < times; i++) values.push(await measure())
  return quantile(
    values.sort((a, b) => a - b),
    0.5,
  )
}

const lines: string[] = []

/** Prints a result: first the ratio, then the details. */
export function report(name: string, ratio: number | null, details: string, target?: string): void {
  const line = `${name.padEnd(44)} ${ratio === null ? '      ' : ratio.toFixed(2).padStart(6)}  ${target ? `(target ${target})  ` : ''}${details}`
  lines.push(line)
  process.stdout.write(`${line}\n`)
}

/** Appends what was reported since the last time to a dated file in `results/`, with hardware and commit. */
export async function saveResults(bench: string, commit: string, date: string): Promise<void> {
  const hardware = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`
  const file = new URL(`./results/${date}-${bench}.txt`, import.meta.url)
  await appendFile(file, `# ${bench}, ${date}, commit ${commit}\n# ${hardware}\n${lines.splice(0).join('\n')}\n\n`)
}

/** The processes of the embedded PostgreSQL: the postmaster first, then its children. */
export async function postgresPids({ dataDir }: Pick<BenchServer, 'dataDir'>): Promise<number[]> {
  const postmaster = Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])
  const children = execFileSync('pgrep', ['-P', String(postmaster)])
    .toString()
    .trim()
    .split('\n')
    .map(Number)
  return [postmaster, ...children]
}

/** The processor time of a process, or one of its threads, in ticks: user and system, on request with that of its ended children. */
export async function ticksOf(pid: number, withChildren = false, thread?: number): Promise<number> {
  const file = thread === undefined ? `/proc/${pid}/stat` : `/proc/${pid}/task/${thread}/stat`
  const text = await readFile(file, 'utf8').catch(() => '')
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15)
  return user + system + (withChildren ? childUser + childSystem : 0)
}
