/** Reads a feedback report (ARF, RFC 5965). Pure. */
import { isIP } from 'node:net'
import { addressOf, blocksOf, type Fields, firstOf, withoutType } from './fields.ts'
import { FEEDBACK_TYPES, type Feedback, type FeedbackType } from './schema.ts'

const VALUES_MAX = 20
const VALUE_LENGTH_MAX = 500
const INCIDENTS_MAX = 1_000_000

/** A complaint, or null for other kinds of feedback: failures of authentication (RFC 6591), and reports that a message is not spam. */
export function feedbackIn(text: string): Feedback | null {
  // Some reporters separate the fields with empty lines.
  const fields: Fields = new Map(blocksOf(text).flatMap((block) => [...block]))
  const type = (firstOf(fields, 'feedback-type') ?? '').toLowerCase() as FeedbackType
  if (!FEEDBACK_TYPES.includes(type)) return null
  const ip = firstOf(fields, 'source-ip') ?? ''
  return {
    type,
    incidents: incidentsOf(firstOf(fields, 'incidents')),
    reporter: textOf(fields, 'reporting-mta'),
    userAgent: textOf(fields, 'user-agent'),
    sourceIp: isIP(ip) === 0 ? null : ip,
    arrivedAt: instantOf(firstOf(fields, 'arrival-date') ?? firstOf(fields, 'received-date')),
    reportedDomains: valuesOf(fields, 'reported-domain'),
    reportedUris: valuesOf(fields, 'reported-uri'),
    mailFrom: addressesOf(fields, 'original-mail-from')[0] ?? null,
    recipients: addressesOf(fields, 'original-rcpt-to'),
  }
}

const valuesOf = (fields: Fields, name: string): string[] =>
  (fields.get(name) ?? []).slice(0, VALUES_MAX).map((value) => value.slice(0, VALUE_LENGTH_MAX))

const addressesOf = (fields: Fields, name: string): string[] =>
  valuesOf(fields, name)
    .map(addressOf)
    .filter((address) => address.includes('@'))

const textOf = (fields: Fields, name: string): string | null => {
  const value = withoutType(firstOf(fields, name) ?? '').slice(0, VALUE_LENGTH_MAX)
  return value === '' ? null : value
}

const incidentsOf = (text = ''): number => (/^\d{1,7}$/.test(text) ? Math.min(Math.max(1, Number(text)), INCIDENTS_MAX) : 1)

function instantOf(text = ''): Date | null {
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : new Date(at)
}
