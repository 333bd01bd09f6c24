/** The key pairs of a sending domain: two of each generation, because not every receiver verifies Ed25519 (D-MTA-41). */
import type { KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Ctx } from '../../../infra/runtime/ctx.ts'
import { atMost } from '../../../lib/cache-limit.ts'
import { DKIM_ALGORITHMS, type DkimKey, generateDkimKey, publicKeyOf, readDkimKey } from '../../../lib/dkim/keys.ts'
import type { DkimKeyRow, RecordState } from '../schema.ts'
import type { NewKey } from './queries.ts'

const SELECTOR_BYTES = 5

/** What the private key is sealed for, so that it cannot be used for another domain. */
const purposeOf = (domain: string, selector: string) => `dkim ${selector} ${domain}`

/** A new key pair of each algorithm. The selectors are random, so that projects of the same server do not publish at the same name. */
export function generateKeys(ctx: Pick<Ctx, 'secrets'>, domain: string): Promise<NewKey[]> {
  const generation = ctx.secrets.random(SELECTOR_BYTES).toString('hex')
  return Promise.all(
    DKIM_ALGORITHMS.map(async (algorithm) => {
      const pem = await generateDkimKey(algorithm)
      const selector = `c${generation}${algorithm === 'rsa-sha256' ? 'r' : 'e'}`
      return {
        selector,
        algorithm,
        public_key: publicKeyOf(readDkimKey(pem), algorithm),
        private_key_sealed: ctx.secrets.seal(pem, purposeOf(domain, selector)),
      }
    }),
  )
}

const KEYS_MAX = 5000

/** Opened keys, by their sealed text: parsing one takes as long as signing with it. */
const opened = new LRUCache<string, KeyObject>(atMost(KEYS_MAX))

/** A key that can sign. */
export function openKey(
  ctx: Pick<Ctx, 'secrets'>,
  domain: string,
  { selector, algorithm, private_key_sealed: sealed }: Pick<DkimKeyRow, 'selector' | 'algorithm' | 'private_key_sealed'>,
): DkimKey {
  const key = opened.get(sealed) ?? readDkimKey(ctx.secrets.open(sealed, purposeOf(domain, selector)))
  opened.set(sealed, key)
  return { domain, selector, algorithm, key }
}

/** What becomes of a key. One that is `unused` is deleted. */
type KeyChange = { selector: string; state: DkimKeyRow['state'] | 'unused' }

/**
 * Whether the owner of a domain is about to publish a key: an RSA key that has not signed yet. The other one may never be published, and the
 * record of one that has signed was removed.
 */
export const isAwaited = ({ algorithm, state, retired_at }: DkimKeyRow): boolean =>
  algorithm === REQUIRED && state === 'pending' && retired_at === null

/** Every receiver verifies it. */
const REQUIRED = 'rsa-sha256'

/**
 * The keys whose state changes after a check. A key signs from when its record is found; the previous one of the same algorithm is retired
 * then, because its record has to stay for a while. Earlier ones that do not sign are not used any more once a newer RSA key signs: their records
 * were never published, or were removed because the key leaked. A key without a record stops signing, unless it is the one that `keepsSigning`
 * names: receivers may still have its record.
 */
export function keyChanges(
  keys: readonly DkimKeyRow[],
  states: ReadonlyMap<string, RecordState['status']>,
  keepsSigning: boolean,
): KeyChange[] {
  const current = keys.findLast(({ algorithm, state, selector }) => {
    return algorithm === REQUIRED && state !== 'retired' && states.get(selector) === 'ok'
  })
  return DKIM_ALGORITHMS.flatMap((algorithm) => {
    const published = keys.filter((key) => key.algorithm === algorithm && key.state !== 'retired')
    const newest = published.findLast(({ selector }) => states.get(selector) === 'ok')
    return published.flatMap(({ selector, state, created_at }): KeyChange[] => {
      if (selector === newest?.selector) return state === 'active' ? [] : [{ selector, state: 'active' }]
      const isGone = states.get(selector) === 'missing' || states.get(selector) === 'wrong'
      const isEarlier = current !== undefined && created_at < current.created_at
      if (state !== 'active' && isEarlier && isGone) return [{ selector, state: 'unused' }]
      if (state !== 'active') return isEarlier && states.get(selector) === 'ok' ? [{ selector, state: 'retired' }] : []
      if (newest) return [{ selector, state: 'retired' }]
      return isGone && !keepsSigning ? [{ selector, state: 'pending' }] : []
    })
  })
}
