/** The time, as something that is handed in. Production has one clock, tests another that only moves when told. */
export type Clock = {
  /** The present instant. */
  now(): Date
  /** Resolves after `ms` milliseconds of this clock, or at once when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
