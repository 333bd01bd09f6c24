/** Signers with the secrets of endpoints. */
import { LRUCache } from 'lru-cache'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import { atMost } from '../../lib/cache-limit.ts'
import type { EndpointId } from '../../lib/ids.ts'
import { sealContext } from './service.ts'
import { type Signer, signer } from './signature.ts'

const SIGNERS_MAX = 5000

/** Signers by the ciphertext of their secrets, which is another after each encryption: so none is out of date. */
const knownSigners = new LRUCache<string, Signer>(atMost(SIGNERS_MAX))

/**
 * Null if the newest secret cannot be decrypted, which must not affect other endpoints. An older one that cannot be is left out, so that a
 * rotation is enough after the encryption key was lost.
 */
export function openSigner(ctx: Ctx, endpointId: EndpointId, rows: { sealed: string }[]): Signer | null {
  const key = `${endpointId} ${rows.map(({ sealed }) => sealed).join(' ')}`
  const known = knownSigners.get(key)
  if (known) return known
  const secrets = rows.map(({ sealed }) => openSecret(ctx, endpointId, sealed))
  if (secrets[0] === null) return null
  const opened = signer(secrets.filter((secret) => secret !== null))
  knownSigners.set(key, opened)
  return opened
}

function openSecret(ctx: Ctx, endpointId: EndpointId, sealed: string): string | null {
  try {
    return ctx.secrets.open(sealed, sealContext(endpointId))
  } catch (error) {
    ctx.log.error({ err: error, endpoint_id: endpointId }, 'a secret of a webhook endpoint cannot be decrypted')
    return null
  }
}
