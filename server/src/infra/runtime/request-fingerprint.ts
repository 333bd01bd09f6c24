/** Tells whether a request is the one that a record of an Idempotency-Key belongs to (D-IDEM-3). */
import { canonicalJson } from '../../lib/canonical-json.ts'
import type { Ctx } from './ctx.ts'
import { sha256 } from './secrets.ts'

const FINGERPRINT = 'request fingerprint'

/**
 * What a fingerprint covers, with the body in one spelling, without white space and the order of members. `about`: its method, path and query.
 * Checks of parameters trim the body in place, so this is read before.
 */
export const coveredOf = (about: string, body: unknown): string => `${about}\n${canonicalJson(body)}`

/** The hash of a request. It has a key, because a body can be little more than a code of six digits. */
export const fingerprintOf = ({ secrets }: Pick<Ctx, 'secrets'>, covered: string): string => secrets.sign(covered, FINGERPRINT)

/** Is this the fingerprint of the request, with any of the keys? Records of earlier releases have a hash without a key. */
export const isFingerprintOf = ({ secrets }: Pick<Ctx, 'secrets'>, fingerprint: string, covered: string): boolean =>
  secrets.isSigned(covered, fingerprint, FINGERPRINT) || fingerprint === sha256(covered)
