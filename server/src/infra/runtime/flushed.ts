import type { Clock } from '../../lib/clock.ts'

export type Flushed = AsyncDisposable & {
  /** Flushes now, after a flush that is running. */
  flush(): Promise<void>
}

/** Flushes again and again, never twice at the same time. Disposing of it flushes a last time. */
export function flushEvery(clock: Clock, everyMs: number, flushOnce: (isLast: boolean) => Promise<void>): Flushed {
  const stop = new AbortController()
  let flushing = Promise.resolve()
  const flush = (isLast: boolean) => {
    flushing = flushing.then(() => flushOnce(isLast))
    return flushing
  }
  const loop = async () => {
    while (!stop.signal.aborted) {
      await clock.sleep(everyMs, stop.signal)
      await flush(false)
    }
  }
  const running = loop()
  return {
    flush: () => flush(false),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
      await flush(true)
    },
  }
}
