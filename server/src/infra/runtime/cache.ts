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

export type CacheOptions = {
  /** While the database is away, an entry is good for so long. */
  whileAwayMs?(ctx: Ctx): number
  /** What changes, in the same transaction, with anything that entries are made of. Entries are good for as long as it stays the same. */
  versionOf?(ctx: Ctx): Promise<number>
}

type Entry<V> = { value: V & {}; readAt: number; version: number }

/**
 * Creates a cache. `load` reads an entry that is missing or older than `forMs`; callers that ask in the meantime share the result, unless
 * they are in a transaction, which may see other data. Null and undefined are not cached. With a version, only the version is read that
 * often, once for all entries. Either way, no entry is more than `forMs` behind a change.
 */
export function cached<K extends string | number, V>(
  max: number,
  forMs: number,
  load: (ctx: Ctx, key: K) => Promise<V>,
  { whileAwayMs = () => 0, versionOf }: CacheOptions = {},
): Cached<K, V> {
  const known = new LRUCache<K, Entry<V>>(atMost(max))
  const loading = new Map<K, { db: Ctx['db']; value: Promise<V> }>()
  // The absolute value, because a clock that moved back would make something seem newer than it is.
  const isFresh = (ctx: Ctx, readAt: number) => Math.abs(ctx.clock.now().getTime() - readAt) < forMs
  const version = versionOf && lastVersion(versionOf, isFresh)

  const read = async (ctx: Ctx, key: K, readAt: number, version: number): Promise<V> => {
    const current = { db: ctx.db, value: load(ctx, key) }
    loading.set(key, current)
    try {
      const value = await current.value
      // What was read before a change is not kept.
      if (loading.get(key) === current) {
        if (value !== undefined && value !== null) known.set(key, { value, readAt, version })
        else known.delete(key)
      }
      return value
    } finally {
      if (loading.get(key) === current) loading.delete(key)
    }
  }
  const readShared = (ctx: Ctx, key: K, version: number): Promise<V> => {
    const shared = loading.get(key)
    return shared?.db === ctx.db ? shared.value : read(ctx, key, ctx.clock.now().getTime(), version)
  }
  const current = async (ctx: Ctx, key: K): Promise<V> => {
    if (!version) return readShared(ctx, key, 0)
    // Before the entry is read, so that it counts as old if there is a change in between.
    const { value, readAt } = await version(ctx)
    const entry = known.get(key)
    if (entry?.version !== value) return readShared(ctx, key, value)
    entry.readAt = readAt
    return entry.value
  }
  return {
    async get(ctx, key) {
      const entry = known.get(key)
      if (!entry) return current(ctx, key)
      if (isFresh(ctx, entry.readAt)) return entry.value
      const ageMs = Math.abs(ctx.clock.now().getTime() - entry.readAt)
      return ageMs < whileAwayMs(ctx)
        ? orWhileAway(
            ctx,
            () => current(ctx, key),
            () => entry.value,
          )
        : current(ctx, key)
    },
    forget() {
      known.clear()
      loading.clear()
    },
  }
}

/** The version as it was last read, which is read again when it is not fresh. */
function lastVersion(versionOf: (ctx: Ctx) => Promise<number>, isFresh: (ctx: Ctx, readAt: number) => boolean) {
  let last: { db: Ctx['db']; readAt: number; value: Promise<number> } | undefined
  return async (ctx: Ctx): Promise<{ value: number; readAt: number }> => {
    if (last?.db !== ctx.db || !isFresh(ctx, last.readAt)) last = { db: ctx.db, readAt: ctx.clock.now().getTime(), value: versionOf(ctx) }
    const asked = last
    try {
      return { value: await asked.value, readAt: asked.readAt }
    } catch (error) {
      if (last === asked) last = undefined
      throw error
    }
  }
}
