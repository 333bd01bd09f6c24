/**
 * A log of accepted requests outside of the database. It answers while the database is away; what it holds is moved to the queue in order
 * (`move.ts`). It knows bytes and positions only. A position is given once, and a later append has a higher one; only after a crash that took its
 * last entries, a log gives their positions again.
 */

/** What was appended. */
export type StoredEntry = { position: number; storedAt: Date; bytes: Buffer }

/** The first and the last position, and how much is between them. Without entries, the first position is the next one. */
export type LogExtent = { first: number; last: number; count: number; bytes: number }

export type AcceptedLog = AsyncDisposable & {
  /**
   * Tells this log from any other, also from an earlier one of the same name: it changes when the log is found to have been created again.
   * Positions belong to the id that was there when they were read.
   */
  readonly id: string
  /** This process, among those that move the log. */
  readonly mover: string
  /** Where it is, without the password. */
  readonly where: string
  /**
   * Appends durably. Of several appends with one key within some minutes, only the first is stored; `isRepeat` says that it was an earlier
   * one. Throws 503 while the log is full or away.
   */
  append(key: string, bytes: Buffer): Promise<{ position: number; isRepeat: boolean }>
  /** The entries after a position, in order and without gaps of this reading. At least one if there is any. */
  readAfter(position: number, max: { entries: number; bytes: number }): Promise<StoredEntry[]>
  /** The entry at a position, unless it was forgotten. */
  read(position: number): Promise<StoredEntry | null>
  extent(): Promise<LogExtent>
  /** Deletes the entries up to a position of the log with this id; nothing if it was created again. */
  forget(id: string, upTo: number): Promise<void>
  /** Calls `listener` when any process has appended. Some calls may be missed. */
  onAppended(listener: () => void): void
}
