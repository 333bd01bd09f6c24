/** Access tokens for the APIs of push services. They are signed or fetched once, and cached in this process until they expire. */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

const TOKENS_MAX = 1000

/** A token and its lifetime. */
export type Issued = { token: string; forMs: number }

export type Tokens<E> = {
  /** Returns the token of these credentials. Simultaneous calls share one. `make` may return a failure, which is not cached. */
  get(credentials: string[], now: Date, make: () => Promise<Issued | E>): Promise<Issued | E>
  /** Removes a token that was refused. */
  forget(credentials: string[]): void
}

/** Creates a cache of tokens, of limited size. */
export function cacheAccessTokens<E extends { is: string } = never>(): Tokens<E> {
  const entries = new LRUCache<string, { since: number; issued: Promise<Issued | E>; until: number }>({ max: TOKENS_MAX })
  return {
    async get(credentials, now, make) {
      const key = keyOf(credentials)
      const time = now.getTime()
      const entry = entries.get(key)
      if (entry && time >= entry.since && time < entry.until) return entry.issued
      const made = { since: time, issued: make(), until: Number.POSITIVE_INFINITY }
      entries.set(key, made)
      try {
        const issued = await made.issued
        if ('token' in issued) made.until = time + issued.forMs
        else if (entries.get(key) === made) entries.delete(key)
        return issued
      } catch (error) {
        entries.delete(key)
        throw error
      }
    },
    forget: (credentials) => void entries.delete(keyOf(credentials)),
  }
}

/** A hash, so that secrets are not keys of the cache. */
const keyOf = (credentials: string[]): string => createHash('sha256').update(JSON.stringify(credentials)).digest('hex')
