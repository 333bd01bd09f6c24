/** A cache in this process, of limited size, for data that is often read and seldom changes. */
import { LRUCache } from 'lru-cache'
import { atMost } from '../../lib/cache-limit.ts'
import type { Ctx } from './ctx.ts'
import { orWhileAway } from './or-while-away.ts'

export type Cached<K extends string | number, V> = {
  get(ctx: Ctx, key: K): Promise<V>
  /** Empties the cache after a change. Other processes see the change once their entries expire. */
  forget(): void
}

/**
 * Creates a cache. `load` reads an entry that is missing or older than `forMs`; those who ask meanwhile share what it reads, unless they are in a
 * transaction, which sees other things. Null and undefined are not cached. While the database is away, an entry is good for `whileAwayMs`.
 */
export function cached<K extends string | number, V>(
  max: number,
  forMs: number,
  load: (ctx: Ctx, key: K) => Promise<V>,
  whileAwayMs: (ctx: Ctx) => number = () => 0,
): Cached<K, V> {
  const known = new LRUCache<K, { value: V & {}; readAt: number }>(atMost(max))
  const loading = new Map<K, { db: Ctx['db']; value: Promise<V> }>()
  const read = async (ctx: Ctx, key: K, readAt: number): Promise<V> => {
    const current = { db: ctx.db, value: load(ctx, key) }
    loading.set(key, current)
    try {
      const value = await current.value
      // What was read before a change is not kept.
      if (loading.get(key) === current) {
        if (value !== undefined && value !== null) known.set(key, { value, readAt })
        else known.delete(key)
      }
      return value
    } finally {
      if (loading.get(key) === current) loading.delete(key)
    }
  }
  return {
    async get(ctx, key) {
      const now = ctx.clock.now().getTime()
      const entry = known.get(key)
      // The absolute value, because a clock that moved back would make an entry seem newer than it is.
      if (entry && Math.abs(now - entry.readAt) < forMs) return entry.value
      const shared = loading.get(key)
      const current = () => (shared?.db === ctx.db ? shared.value : read(ctx, key, now))
      if (!entry || Math.abs(now - entry.readAt) >= whileAwayMs(ctx)) return current()
      return orWhileAway(ctx, current, () => entry.value)
    },
    forget() {
      known.clear()
      loading.clear()
    },
  }
}
