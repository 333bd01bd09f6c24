import { constants } from 'node:os'
import { systemClock } from '../infra/runtime/clock.ts'

const REPEAT_MS = 1000

/**
 * Resolves on the first SIGTERM or SIGINT. For a second, more of them are the same request: Ctrl-C in a terminal reaches the server directly
 * and again through npm. After that, one ends the process at once.
 */
export function waitForSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let first: number | undefined
  const receive = (signal: 'SIGTERM' | 'SIGINT') => {
    const now = systemClock.now().getTime()
    first ??= now
    if (now - first > REPEAT_MS) process.exit(128 + constants.signals[signal])
    resolve()
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => receive(signal))
  return promise
}
