/** Where the processor time of sending goes: by process, and on the main thread of the server by part, from a CPU profile. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BenchServer, postgresPids, ticksOf } from './support.ts'

const TICK_US = 10_000

type CpuTime = { main: number; threads: number; postgres: number }

/** The processor time so far, in ticks. */
export async function cpuTimeOf(server: BenchServer): Promise<CpuTime> {
  const main = await ticksOf(server.pid, false, server.pid)
  const all = await ticksOf(server.pid)
  const [postmaster = 0, ...children] = await postgresPids(server)
  const backends = await Promise.all(children.map((pid) => ticksOf(pid)))
  return { main, threads: all - main, postgres: (await ticksOf(postmaster, true)) + backends.reduce((sum, ticks) => sum + ticks, 0) }
}

/** The processor time of each message between two instants, to be read. */
export function cpuEach(before: CpuTime, after: CpuTime, messages: number): string {
  const each = (part: keyof CpuTime) => Math.round(((after[part] - before[part]) * TICK_US) / messages)
  return `CPU for each: main thread ${each('main')} µs, other threads ${each('threads')} µs, PostgreSQL ${each('postgres')} µs`
}

/** The part that a frame belongs to: the first of its callers, itself included, whose file is one of these. */
const PARTS: [part: string, files: RegExp][] = [
  ['sign links', /runtime\/secrets\.ts/],
  ['sign emails', /lib\/dkim\//],
  ['compose', /lib\/mime\/|channels\/(mail|mailbox|encode|email)\.ts/],
  ['claim', /sending\/(claim|rate-queues)\.ts/],
  [
    'decide',
    /sending\/(context|rates|moved-addresses)\.ts|messages\/(eligibility|policy|addresses)|modules\/(users|subscriptions|templates)\//,
  ],
  ['record', /record-results\.ts|messages\/webhook-events|modules\/webhook-events\//],
  ['render', /sending\/(render|prepare)|infra\/threads\//],
  ['mail queue', /modules\/mta\/|messages\/delivery\//],
  ['hand over', /outgoing\/(smtp|mx)|lib\/smtp|channels\/|sending\/attempts\.ts/],
  ['sender', /messages\/sending\//],
  ['database driver', /node_modules\/pg|infra\/postgres\//],
]

type Profile = {
  nodes: { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[]
  samples: number[]
  timeDeltas: number[]
}

/** Milliseconds of the newest profile in a folder by part, largest first. The server writes it when it ends. */
export async function profileParts(folder: string): Promise<string> {
  const newest = (await readdir(folder))
    .filter((name) => name.endsWith('.cpuprofile'))
    .sort()
    .at(-1)
  if (!newest) return 'no profile'
  const { nodes, samples, timeDeltas } = JSON.parse(await readFile(join(folder, newest), 'utf8')) as Profile
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const partOf = (id: number): string => {
    const { functionName } = byId.get(id)?.callFrame ?? { functionName: '' }
    if (functionName === '(idle)' || functionName === '(garbage collector)') return functionName
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const url = byId.get(at)?.callFrame.url ?? ''
      const [part] = PARTS.find(([, files]) => files.test(url)) ?? []
      if (part) return part
    }
    return 'other'
  }
  const times = new Map<string, number>()
  for (const [at, id] of samples.entries()) times.set(partOf(id), (times.get(partOf(id)) ?? 0) + (timeDeltas[at] ?? 0))
  times.delete('(idle)')
  return [...times]
    .sort(([, a], [, b]) => b - a)
    .map(([part, us]) => `${part} ${Math.round(us / 1000)} ms`)
    .join(', ')
}
