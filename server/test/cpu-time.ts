/** Whether the time of a function grows as its input does. Only ratios are compared, because machines differ and are busy. */

/** The CPU time of this thread, so that other processes do not count. */
function costOf(run: () => unknown): number {
  const began = process.threadCpuUsage()
  run()
  return process.threadCpuUsage(began).user
}

/** Shorter times are too imprecise to compare. */
const MICROSECONDS_MIN = 3000
const ATTEMPTS_MAX = 10

/** How much more CPU time half a megabyte takes than a quarter: 2 if the time is linear. */
export function ratioOf(run: (text: string) => unknown, of: (length: number) => string): number {
  const [half, whole] = [of(250_000), of(500_000)]
  run(of(10_000))
  let ratio = Number.POSITIVE_INFINITY
  // Sometimes the garbage collector runs during the longer call only.
  for (let attempt = 0; attempt < ATTEMPTS_MAX && ratio >= 3; attempt++) {
    const least = Math.max(
      costOf(() => run(half)),
      MICROSECONDS_MIN,
    )
    ratio = costOf(() => run(whole)) / least
  }
  return ratio
}
