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

/** Uses more and more memory. */
export const hoard = task({
  name: 'test.hoard',
  run(_, __: null, ___: null) {
    const kept: unknown[] = []
    for (;;) kept.push(new Array(1_000_000).fill(kept.length))
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
