/** The addresses of rows, checked before they are sent: one that the API refuses would refuse all suppressions of a request. */
import { isEmail } from '../../lib/email.ts'
import { normalisePhone, type PhoneDefaults, phoneRegions } from '../../lib/phone.ts'
import type { ExportedUser } from './product.ts'

/** Why a text is no email address; undefined if it is one. */
export const emailProblem = (text: string): string | undefined =>
  isEmail(text) ? undefined : `The value ${JSON.stringify(text)} of email is not an email address.`

/**
 * The user with the phone number in E.164, or why an address is none. A number without a country code takes it from the row or else the project,
 * because suppressions, which know no user, would read it otherwise. A dry run does not know the project, and keeps what it cannot read.
 */
export function withAddresses(exported: ExportedUser, project: PhoneDefaults | undefined): ExportedUser | string {
  const { email, phone, locale, timezone } = exported.user
  const problem = email === undefined ? undefined : emailProblem(email)
  if (problem !== undefined) return problem
  if (phone === undefined) return exported
  const number = normalisePhone(phone, phoneRegions({ locale, timezone }, project ?? {}))
  if (number !== null) return { ...exported, user: { ...exported.user, phone: number } }
  return project ? `The value ${JSON.stringify(phone)} of phone is not a phone number. Start it with + and the country code.` : exported
}
