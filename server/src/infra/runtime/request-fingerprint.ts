/** Tells whether a request is the one that a record of an Idempotency-Key belongs to (D-IDEM-3). */
import { canonicalJson } from '../../lib/canonical-json.ts'
import type { Ctx } from './ctx.ts'
import { sha256 } from './secrets.ts'

const FINGERPRINT = 'request fingerprint'

/** What a fingerprint covers, with the body in one spelling, without white space and the order of members. `about`: its method, path and query. */
const wholeOf = (about: string, body: unknown): string => `${about}\n${canonicalJson(body)}`

/** The hash of a request. It has a key, because a body can be little more than a code of six digits. */
export const fingerprintOf = ({ secrets }: Pick<Ctx, 'secrets'>, about: string, body: unknown): string =>
  secrets.sign(wholeOf(about, body), FINGERPRINT)

/** Is this the fingerprint of the request, with any of the keys? Records of earlier releases have a hash without a key. */
export function isFingerprintOf({ secrets }: Pick<Ctx, 'secrets'>, fingerprint: string, about: string, body: unknown): boolean {
  const whole = wholeOf(about, body)
  return secrets.isSigned(whole, fingerprint, FINGERPRINT) || fingerprint === sha256(whole)
}
