/** What is read with every request and seldom changes: kept for a few seconds in this process, with a bound. */
import { LRUCache } from 'lru-cache'
import type { Ctx } from './ctx.ts'

export type Cached<K extends string | number, V> = {
  get(ctx: Ctx, key: K): Promise<V>
  /** This process changed it: it is read again. Others follow when their time is over. */
  forget(): void
}

/** `load` reads what is not known, or known for longer than `forMs`; undefined is not remembered. */
export function cached<K extends string | number, V>(max: number, forMs: number, load: (ctx: Ctx, key: K) => Promise<V>): Cached<K, V> {
  const known = new LRUCache<K, { value: V & {}; readAt: number }>({ max })
  return {
    async get(ctx, key) {
      const now = ctx.clock.now().getTime()
      const entry = known.get(key)
      // A clock that went back makes an entry look younger than it is; the difference bounds that too.
      if (entry && Math.abs(now - entry.readAt) < forMs) return entry.value
      const value = await load(ctx, key)
      if (value !== undefined && value !== null) known.set(key, { value, readAt: now })
      return value
    },
    forget: () => known.clear(),
  }
}
