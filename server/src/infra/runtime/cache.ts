/** A cache in this process, of limited size, for data that is often read and seldom changes. */
import { LRUCache } from 'lru-cache'
import { atMost } from '../../lib/cache-limit.ts'
import type { Ctx } from './ctx.ts'

export type Cached<K extends string | number, V> = {
  get(ctx: Ctx, key: K): Promise<V>
  /** Empties the cache after a change. Other processes see the change once their entries expire. */
  forget(): void
}

/** Creates a cache. `load` reads an entry that is missing or older than `forMs`. Null and undefined are not cached. */
export function cached<K extends string | number, V>(max: number, forMs: number, load: (ctx: Ctx, key: K) => Promise<V>): Cached<K, V> {
  const known = new LRUCache<K, { value: V & {}; readAt: number }>(atMost(max))
  return {
    async get(ctx, key) {
      const now = ctx.clock.now().getTime()
      const entry = known.get(key)
      // The absolute value, because a clock that moved back would make an entry seem newer than it is.
      if (entry && Math.abs(now - entry.readAt) < forMs) return entry.value
      const value = await load(ctx, key)
      if (value !== undefined && value !== null) known.set(key, { value, readAt: now })
      return value
    },
    forget: () => known.clear(),
  }
}
