/** The side of a worker thread: does one order at a time, and writes down which item it is at. */
import { parentPort, workerData } from 'node:worker_threads'
import { type AnyTask, NO_ITEM, type Order, type Reply, STATE, type TaskTools, type ThreadData } from './task.ts'

/** After so much processor time the thread gives back what it has, so that work of other projects comes between. */
const TIME_SLICE_US = 100_000

type Run = (tools: TaskTools, shared: unknown, item: unknown) => unknown

export type Serving = {
  tasks: AnyTask[]
  toolsOf(secretsKeys: readonly string[]): TaskTools
  /** Loads what is large and used late. */
  warmUp(): Promise<unknown>
}

/** Serves orders until the thread is stopped. */
export function serveTasks({ tasks, toolsOf, warmUp }: Serving): void {
  const { state, secretsKeys, warmsUp } = workerData as ThreadData
  const runs = new Map(tasks.map(({ name, run }) => [name, run as Run]))
  const tools = toolsOf(secretsKeys)
  const progress = new Float64Array(state)
  progress[STATE.item] = NO_ITEM
  parentPort?.on('message', async (order: Order) => {
    const reply = await done(runs, tools, progress, order)
    progress[STATE.item] = NO_ITEM
    parentPort?.postMessage(reply)
  })
  if (warmsUp) void warmUp()
}

async function done(runs: Map<string, Run>, tools: TaskTools, progress: Float64Array, { task, shared, items }: Order): Promise<Reply> {
  const run = runs.get(task)
  const results: unknown[] = []
  const began = cpuTime()
  try {
    if (!run) throw new Error(`There is no task \`${task}\` in the list of tasks.`)
    for (const [index, item] of items.entries()) {
      const now = cpuTime()
      if (index > 0 && now - began > TIME_SLICE_US) break
      progress[STATE.cpuAtStart] = now
      progress[STATE.item] = index
      results.push(await run(tools, shared, item))
    }
    return { results }
  } catch (error) {
    const { message, stack = '' } = error instanceof Error ? error : new Error(String(error))
    return { failed: { message, stack } }
  }
}

function cpuTime(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}
