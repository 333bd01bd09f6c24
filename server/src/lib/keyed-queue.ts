/** Work that waits for a free place. Keys take turns, with one piece of work each at a time. */
import { createFairQueue } from './fair-queue.ts'

export type KeyedQueue = {
  /** Runs `work` when there is a place for it. Returns `full` when too much of the same key waits. */
  take<T>(key: number, work: () => Promise<T>): Promise<T | 'full'>
}

/** At most `atOnce` run at a time, one of each key, and at most `waitingMax` of a key wait. */
export function createKeyedQueue({ atOnce, waitingMax }: { atOnce: number; waitingMax: number }): KeyedQueue {
  const queue = createFairQueue<number, () => void>(1)
  let running = 0

  const next = () => {
    const taken = running < atOnce ? queue.take() : undefined
    if (!taken) return
    running++
    taken.job()
  }

  return {
    async take(key, work) {
      if (queue.waitingOf(key) >= waitingMax) return 'full'
      await new Promise<void>((start) => {
        queue.push(key, start)
        next()
      })
      try {
        return await work()
      } finally {
        running--
        queue.done(key)
        next()
      }
    },
  }
}
