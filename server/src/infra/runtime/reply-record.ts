/** The record of an `Idempotency-Key` whose reply is 204, which is stored in the commit of the only write of the request. */
import type { KeyId } from '../../lib/ids.ts'

export type ReplyRecord = {
  keyId: KeyId
  key: string
  fingerprint: string
  /** What the fingerprint covers besides the body. Entries of a log that an earlier release appended do not have it. */
  about?: string | undefined
  expiresAt: Date
}

/** The request that stored a record first. */
export type RecordedRequest = { fingerprint: string; requestId: string }

/** Another request has stored a record for the key, so nothing was written. `first` is that request, if its record is not in the database yet. */
export class AlreadyRecorded extends Error {
  readonly first: RecordedRequest | undefined
  constructor(first?: RecordedRequest) {
    super('The key has a record.')
    this.first = first
  }
}
