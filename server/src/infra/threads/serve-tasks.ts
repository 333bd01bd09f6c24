/** The side of a worker thread: does one order at a time, and writes down which item it is at. */
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { createPacker } from './packed.ts'
import {
  type AnyTask,
  countLoading,
  NO_ITEM,
  type Order,
  type PartReply,
  type Reply,
  STATE,
  type TaskTools,
  type ThreadData,
} from './task.ts'

/** After so much processor time the thread gives back what it has, so that work of other projects comes between. */
const TIME_SLICE_US = 100_000

type Run = (tools: TaskTools, shared: unknown, item: unknown) => unknown

export type Serving = {
  tasks: AnyTask[]
  toolsOf(secretsKeys: readonly string[]): Omit<TaskTools, 'pack'>
  /** Loads what is large and used late. */
  warmUp(): Promise<unknown>
}

/** Less than the rest of the server: requests and the database come first when the processors are busy. */
const NICENESS = 5

/** Serves orders until the thread is stopped. */
export function serveTasks({ tasks, toolsOf, warmUp }: Serving): void {
  const { state, secretsKeys, warmsUp } = workerData as ThreadData
  lowerPriority()
  const runs = new Map(tasks.map(({ name, run }) => [name, run as Run]))
  const packer = createPacker()
  const tools = { ...toolsOf(secretsKeys), pack: packer.pack }
  const progress = new Float64Array(state)
  progress[STATE.item] = NO_ITEM
  countLoading((load) => untimed(progress, load))
  parentPort?.on('message', async (order: Order) => {
    const parts = await done(runs, tools, progress, order)
    progress[STATE.item] = NO_ITEM
    const packed = packer.take()
    parentPort?.postMessage({ parts, packed } satisfies Reply, packed ? [packed] : [])
  })
  if (warmsUp) void warmUp()
}

/** Elsewhere than on Linux it would be the priority of the process. */
function lowerPriority(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(NICENESS)
  } catch {
    // A sandbox may forbid it. The thread works all the same.
  }
}

/** While a thread loads, it is at no item. */
async function untimed<T>(progress: Float64Array, load: () => Promise<T>): Promise<T> {
  const item = progress[STATE.item] ?? NO_ITEM
  const used = cpuTime() - (progress[STATE.cpuAtStart] ?? 0)
  progress[STATE.item] = NO_ITEM
  try {
    return await load()
  } finally {
    progress[STATE.cpuAtStart] = cpuTime() - used
    progress[STATE.item] = item
  }
}

/** Does one part after the other. One that fails is no reason to leave out the others. */
async function done(runs: Map<string, Run>, tools: TaskTools, progress: Float64Array, order: Order): Promise<PartReply[]> {
  const began = cpuTime()
  const reply: PartReply[] = []
  let index = 0
  let isTimeUp = false
  for (const { task, shared, items } of order) {
    const results: unknown[] = []
    try {
      const run = runs.get(task)
      if (!run) throw new Error(`There is no task \`${task}\` in the list of tasks.`)
      for (const [at, item] of items.entries()) {
        const now = cpuTime()
        isTimeUp ||= index + at > 0 && now - began > TIME_SLICE_US
        if (isTimeUp) break
        progress[STATE.cpuAtStart] = now
        progress[STATE.item] = index + at
        results.push(await run(tools, shared, item))
      }
      reply.push({ results })
    } catch (error) {
      const { message, stack = '' } = error instanceof Error ? error : new Error(String(error))
      reply.push({ failed: { message, stack } })
    }
    index += items.length
  }
  return reply
}

function cpuTime(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}
