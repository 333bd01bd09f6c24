import { constants } from 'node:os'
import { systemClock } from '../infra/runtime/clock.ts'

const REPEAT_MS = 1000

type Signal = 'SIGTERM' | 'SIGINT' | 'SIGHUP'

/**
 * Resolves on the first of these signals. A server does not listen for SIGHUP, so that it goes on under `nohup`. For a second, more of them are the
 * same request: Ctrl-C in a terminal reaches the server directly and again through npm. After that, one ends the process at once.
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
