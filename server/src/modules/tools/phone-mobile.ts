import { phone } from 'phone'
import type { PhoneReply } from './schema.ts'

/**
 * Is this a mobile number, by the ranges of the `phone` package (D-PHV-1)? Without a plus only North American numbers are known.
 * A form decodes an unencoded plus to a space, hence one space before a digit is read as a plus.
 */
export function checkMobile(text: string): PhoneReply['data'] {
  const { isValid, phoneNumber, countryIso2, countryIso3, countryCode } = phone(text.replace(/^ (?=[0-9])/, '+'))
  return { isValid, ...(isValid && { phoneNumber }), countryIso2, countryIso3, countryCode }
}
