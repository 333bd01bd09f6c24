/** The time from the command to ready, without and with existing data, and the memory when idle. */
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { report, startServer } from './support.ts'

const IDLE_MS = 5000

export async function coldStart(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'carillon-cold-'))
  const first = await timeOf(dir)
  report('cold start, first start', null, `${(first / 1000).toFixed(2)} s`, '≤ 8 s')
  const again: number[] = []
  for (let at = 0; at < 3; at++) again.push(await timeOf(dir))
  report('cold start, existing data', null, `${(Math.max(...again) / 1000).toFixed(2)} s (slowest of 3)`, '≤ 3 s')
  await idle(dir)
  await rm(dir, { recursive: true, force: true })
}

async function timeOf(dir: string): Promise<number> {
  const started = performance.now()
  await using server = await startServer({}, dir)
  const { status } = await fetch(`${server.url}/readyz`)
  if (status !== 200) throw new Error(`Not ready: ${status}`)
  return performance.now() - started
}

async function idle(dir: string): Promise<void> {
  await using server = await startServer({}, dir)
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
  const postmaster = (await readFile(join(dir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0] as string
  const backends = execFileSync('pgrep', ['-P', postmaster]).toString().trim().split('\n')
  const database = await megabytes([postmaster, ...backends])
  const node = await megabytes([String(server.pid)])
  report(
    'idle memory, server + PostgreSQL',
    null,
    `${(node + database).toFixed(0)} MB (server ${node.toFixed(0)}, PostgreSQL ${database.toFixed(0)}; proportional set size)`,
    '≤ 300 MB',
  )
}

/** The proportional set size, which divides shared pages among the processes that share them. */
async function megabytes(pids: string[]): Promise<number> {
  const sizes = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')))
  return sizes.reduce((sum, text) => sum + Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0) / 1024, 0)
}
