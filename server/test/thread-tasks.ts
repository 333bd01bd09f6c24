/** Tasks for tests of the pool, and the module that its threads run. */
import { isMainThread } from 'node:worker_threads'
import { createSecrets } from '../src/infra/runtime/secrets.ts'
import { serveTasks } from '../src/infra/threads/serve-tasks.ts'
import { loading, task } from '../src/infra/threads/task.ts'

function cpuTime(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/** Runs for so many milliseconds of processor time. */
export const burn = task({
  name: 'test.burn',
  run(_, shared: string, ms: number) {
    const began = cpuTime()
    while (cpuTime() - began < ms * 1000);
    return `${shared} ${ms}`
  },
})

const HOARD_MAX_MS = 60_000

/**
 * Keeps more memory than an item may have, some of it on the heap and the rest outside, neither of which is too much alone. Then it goes on
 * without using processor time, so that memory is the only limit that it exceeds, however busy the machine is.
 */
export const hoard = task({
  name: 'test.hoard',
  run(_, __: null, ___: null): string {
    const onHeap = Array.from({ length: 15 }, (_, at) => new Array(1_000_000).fill(at))
    const outside = Buffer.allocUnsafe(450 * 1024 ** 2)
    const until = performance.now() + HOARD_MAX_MS
    const never = new Int32Array(new SharedArrayBuffer(4))
    // A loop, because a thread says how much memory it uses between two rounds.
    while (performance.now() < until) Atomics.wait(never, 0, 0, 10)
    return `kept ${onHeap.length} arrays and ${outside.length} bytes`
  },
})

/** A bug. */
export const fail = task({
  name: 'test.fail',
  run(_, __: null, message: string): string {
    throw new Error(message)
  },
})

/** Waits without working, as a thread of a busy machine does. */
export const wait = task({
  name: 'test.wait',
  run(_, __: null, ms: number) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
    return 'waited'
  },
})

/** Loads for so many milliseconds of processor time, and then works for as many. */
export const load = task({
  name: 'test.load',
  async run(_, __: null, [loadMs, workMs]: [number, number]) {
    await loading(async () => burn.run(_, '', loadMs))
    return burn.run(_, 'worked', workMs)
  },
})

export const sign = task({ name: 'test.sign', run: ({ secrets }, __: null, text: string) => secrets.sign(text, 'test') })

if (!isMainThread) {
  serveTasks({
    tasks: [burn, load, hoard, fail, wait, sign],
    toolsOf: (keys) => ({ secrets: createSecrets(keys) }),
    warmUp: async () => undefined,
  })
}
