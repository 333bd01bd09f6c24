/** The record of an `Idempotency-Key` whose reply is 204, which is stored in the commit of the only write of the request. */
import type { KeyId } from '../../lib/ids.ts'

export type ReplyRecord = { keyId: KeyId; key: string; fingerprint: string; expiresAt: Date }

/** Another request has stored a record for the key, so nothing was written. */
export class AlreadyRecorded extends Error {}
