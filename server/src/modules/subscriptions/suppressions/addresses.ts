/** One form for each address, and the hash by which it is found. Pure. */
import { createHmac, type KeyObject } from 'node:crypto'
import { normalisePhone, type PhoneDefaults, phoneRegions } from '../../../lib/phone.ts'
import { trimWhiteSpace } from '../../../lib/text.ts'
import type { Addressed } from './schema.ts'

/**
 * The form in which addresses are compared. Of mail addresses the whole is taken in lower case: the rare server that tells
 * `Kim@` from `kim@` is not worth writing to somebody who said stop. A number that cannot be read is compared as it is.
 */
export function normalised(channel: Addressed, address: string, project: PhoneDefaults): string {
  const trimmed = trimWhiteSpace(address)
  return channel === 'email' ? trimmed.toLowerCase() : (normalisePhone(trimmed, phoneRegions({}, project)) ?? trimmed)
}

/** The hash of a normalised address, with the key of the project. */
export const hashOf = (key: KeyObject, address: string): string => createHmac('sha256', key).update(address).digest('base64url')
