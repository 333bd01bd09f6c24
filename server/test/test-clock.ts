import type { Clock } from '../src/lib/clock.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../src/lib/times.ts'

/** A fixed Monday, so that weeks are easy to follow in tests. */
const MONDAY = new Date('2026-11-23T09:00:00.000Z')

export type TestClock = Clock & {
  /** Moves the time forwards, and wakes the sleepers that are due. */
  advance(by: string | number): void
  /** Sets the time, backwards too. */
  set(instant: Date): void
}

const UNITS_MS: Record<string, number> = { second: SECOND_MS, minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS }

function millisecondsOf(by: string | number): number {
  if (typeof by === 'number') return by
  const [, amount, unit] = /^(\d+) (second|minute|hour|day)s?$/.exec(by) ?? []
  if (!amount || !unit) throw new Error(`Not a duration: ${by}`)
  return Number(amount) * (UNITS_MS[unit] as number)
}

/** Creates a clock that only moves when the test moves it. */
export function createTestClock(start: Date = MONDAY): TestClock {
  let time = start.getTime()
  let sleepers: { until: number; wake: () => void }[] = []
  const set = (instant: Date) => {
    // Who sleeps does not notice that the clock is set back.
    const backMs = Math.max(0, time - instant.getTime())
    sleepers = sleepers.map(({ until, wake }) => ({ until: until - backMs, wake }))
    time = instant.getTime()
    const due = sleepers.filter(({ until }) => until <= time)
    sleepers = sleepers.filter(({ until }) => until > time)
    for (const { wake } of due) wake()
  }
  return {
    now: () => new Date(time),
    skewMs: 0,
    isShared: true,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (ms <= 0 || signal?.aborted) return resolve()
        sleepers.push({ until: time + ms, wake: resolve })
        signal?.addEventListener('abort', () => resolve(), { once: true })
      }),
    advance: (by) => set(new Date(time + millisecondsOf(by))),
    set,
  }
}
