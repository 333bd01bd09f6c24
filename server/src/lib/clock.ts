/** The source of time. In production it is the clock of the system; in tests it moves only when the test advances it. */
export type Clock = {
  /** The current time. */
  now(): Date
  /** Resolves after `ms` milliseconds of this clock, or immediately when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** How far the clocks of processes on one database may differ. */
  readonly skewMs: number
  /** All processes on a database have this clock, as in tests. Otherwise they share only that of the database. */
  readonly isShared?: true
}
