/** The source of time, passed in as a value. In production it is the system’s clock; a test’s clock moves only when the test moves it. */
export type Clock = {
  /** The current time. */
  now(): Date
  /** Resolves after `ms` milliseconds of this clock, or immediately when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
