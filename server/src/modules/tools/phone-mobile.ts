import { phone } from 'phone'
import type { PhoneReply } from './schema.ts'

/**
 * Checks if this is a mobile number, with the ranges of the `phone` package (D-PHV-1). Without a plus, only North American numbers
 * are recognised. Forms decode an unencoded plus to a space, so one space before a digit is read as a plus.
 */
export function checkMobile(text: string): PhoneReply['data'] {
  const { isValid, phoneNumber, countryIso2, countryIso3, countryCode } = phone(text.replace(/^ (?=[0-9])/, '+'))
  return { isValid, ...(isValid && { phoneNumber }), countryIso2, countryIso3, countryCode }
}
