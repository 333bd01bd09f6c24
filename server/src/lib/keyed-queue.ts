/** Work that waits for a free place, in turns: the first of each key comes before the second of any. */

export type KeyedQueue = {
  /** Runs `work` when there is a place for it. Returns `full` when too much of the same key waits. */
  take<T>(key: number, work: () => Promise<T>): Promise<T | 'full'>
}

/** At most `atOnce` run at a time, one of each key, and at most `waitingMax` of a key wait. */
export function createKeyedQueue({ atOnce, waitingMax }: { atOnce: number; waitingMax: number }): KeyedQueue {
  const running = new Set<number>()
  const waiting = new Map<number, (() => void)[]>()
  /** When the keys that wait or run had their last turn. */
  const lastStart = new Map<number, number>()
  let starts = 0

  const next = () => {
    if (running.size >= atOnce) return
    const [key] = [...waiting.keys()].filter((key) => !running.has(key)).sort((a, b) => (lastStart.get(a) ?? 0) - (lastStart.get(b) ?? 0))
    if (key === undefined) return
    const [start, ...others] = waiting.get(key) ?? []
    if (others.length > 0) waiting.set(key, others)
    else waiting.delete(key)
    running.add(key)
    lastStart.set(key, ++starts)
    start?.()
  }

  return {
    async take(key, work) {
      const before = waiting.get(key) ?? []
      if (before.length >= waitingMax) return 'full'
      await new Promise<void>((start) => {
        waiting.set(key, [...before, start])
        next()
      })
      try {
        return await work()
      } finally {
        running.delete(key)
        if (!waiting.has(key)) lastStart.delete(key)
        next()
      }
    },
  }
}
