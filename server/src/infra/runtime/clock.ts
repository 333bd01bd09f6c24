import type { Clock } from '../../lib/clock.ts'

/** The system’s clock. */
export const systemClock: Clock = {
  now: () => new Date(),
  // Not `node:timers/promises`, which makes an error with its stack whenever a sleep is cut short: here that happens with every request.
  skewMs: 250,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const wake = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', wake)
        resolve()
      }, ms)
      signal?.addEventListener('abort', wake, { once: true })
    }),
}
