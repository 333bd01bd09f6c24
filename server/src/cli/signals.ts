import { constants } from 'node:os'
import { systemClock } from '../infra/runtime/clock.ts'

const REPEAT_MS = 1000

type Signal = 'SIGTERM' | 'SIGINT' | 'SIGHUP'

/**
 * Resolves on the first of these signals. A server does not listen for SIGHUP, because it must keep running under `nohup`. Signals within a second of
 * the first are the same request, because Ctrl-C reaches the server directly and again through npm. A later one ends the process at once.
 */
export function waitForSignal(signals: readonly Signal[] = ['SIGTERM', 'SIGINT']): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let first: number | undefined
  const receive = (signal: Signal) => {
    const now = systemClock.now().getTime()
    first ??= now
    if (now - first > REPEAT_MS) process.exit(128 + constants.signals[signal])
    resolve()
  }
  for (const signal of signals) process.on(signal, () => receive(signal))
  return promise
}
