/** What transactions read before they know that they need it, so that it shares a round trip with other statements. */
import type { Db } from './db.ts'

export type Ahead<C, T> = {
  /** Begins to read, in a transaction of one project that reads it again only for what others write. */
  begin(ctx: C): Promise<T>
  /** What was read ahead in this transaction; if nothing was, it is read now. */
  read(ctx: C): Promise<T>
}

/** A read that a transaction can begin ahead of its use. If it was not begun, `read` begins it, and nothing is kept. */
export function ahead<C extends { db: Db }, T>(read: (ctx: C) => Promise<T>): Ahead<C, T> {
  const begun = new WeakMap<Db, Promise<T>>()
  return {
    begin(ctx) {
      const reading = read(ctx)
      begun.set(ctx.db, reading)
      return reading
    },
    read: (ctx) => begun.get(ctx.db) ?? read(ctx),
  }
}
