/** How late the event loop runs: what every request of this process waits in addition, because all of them share one thread. */
import { monitorEventLoopDelay } from 'node:perf_hooks'

/** The lag of the last second or so, in milliseconds. */
export type EventLoopLag = () => number

/** Each sample costs an idle server processor time. */
const RESOLUTION_MS = 50
const WINDOW_MS = 1000
/** With fewer samples, one long turn would decide. */
const SAMPLES_MIN = 5
const NS_PER_MS = 1_000_000

/** Measures the lag as the median of a window, because one long turn is over when it is noticed; a busy process has one after another. */
export function createEventLoopLag(): EventLoopLag {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()
  let lagMs = 0
  let since = performance.now()
  return () => {
    const now = performance.now()
    if (now - since < WINDOW_MS || delays.count < SAMPLES_MIN) return lagMs
    // A timer that is on time is recorded with the resolution.
    lagMs = Math.max(0, delays.percentile(50) / NS_PER_MS - RESOLUTION_MS)
    delays.reset()
    since = now
    return lagMs
  }
}
