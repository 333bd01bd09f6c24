/** Tokens that a push service wants to see with every request, signed or fetched once and kept in this process until they age. */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

const KEPT_MAX = 1000

/** A token, and for how long it may be shown. */
export type Issued = { token: string; forMs: number }

export type Tokens<E> = {
  /** The token of these credentials; several who ask at once wait for one. `make` may answer with what went wrong, which is not kept. */
  get(credentials: string[], now: Date, make: () => Promise<Issued | E>): Promise<Issued | E>
  /** It was refused: another one is made. */
  forget(credentials: string[]): void
}

/** A bounded store of tokens. */
export function cacheAccessTokens<E extends { is: string } = never>(): Tokens<E> {
  const kept = new LRUCache<string, { since: number; issued: Promise<Issued | E>; until: number }>({ max: KEPT_MAX })
  return {
    async get(credentials, now, make) {
      const key = keyOf(credentials)
      const time = now.getTime()
      const entry = kept.get(key)
      if (entry && time >= entry.since && time < entry.until) return entry.issued
      const made = { since: time, issued: make(), until: Number.POSITIVE_INFINITY }
      kept.set(key, made)
      try {
        const issued = await made.issued
        if ('token' in issued) made.until = time + issued.forMs
        else if (kept.get(key) === made) kept.delete(key)
        return issued
      } catch (error) {
        kept.delete(key)
        throw error
      }
    },
    forget: (credentials) => void kept.delete(keyOf(credentials)),
  }
}

/** Secrets are no keys of a store. */
const keyOf = (credentials: string[]): string => createHash('sha256').update(JSON.stringify(credentials)).digest('hex')
