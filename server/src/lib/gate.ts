/** A limit on calls that run at the same time, wherever they come from. Further calls wait, in order. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>

export function createGate(limit: number): Gate {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running < limit) running++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      // The next one takes the place over, so that no later call comes first.
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
