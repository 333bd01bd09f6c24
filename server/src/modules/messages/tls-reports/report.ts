/** A report about TLS, and the email that carries it (RFC 8460 §4 and §5.3). Pure. */
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { TlsaRecord } from '../../../lib/dane.ts'
import type { MtaStsPolicy } from '../../../lib/mta-sts.ts'
import { DAY_MS } from '../../../lib/times.ts'
import type { ReportedCount } from '../../mta/index.ts'

/**
 * What a report is about. `submitter` is the sending domain that reports. `policy` and `tlsa`, the TLSA records of its mail hosts, are those that the
 * domain has now.
 */
export type ReportFacts = {
  day: Date
  domain: string
  submitter: string
  contact: string
  counts: readonly ReportedCount[]
  policy: MtaStsPolicy | null
  tlsa: readonly HostRecords[]
}

/** The TLSA records of a mail host, and their name. */
export type HostRecords = { host: string; name: string; records: readonly TlsaRecord[] }

/** The same for each attempt to send the report, so that a receiver knows a second copy. */
const reportId = ({ day, domain, submitter }: ReportFacts) => `${day.toISOString().slice(0, 10)}.${domain}@${submitter}`

/** The report as JSON, compressed. */
export function compressedReport(facts: ReportFacts): Buffer {
  const { day, submitter, contact, counts } = facts
  const types = [...new Set(counts.map(({ policy }) => policy))]
  const report = {
    'organization-name': submitter,
    'date-range': { 'start-datetime': secondsOf(day), 'end-datetime': secondsOf(lastSecondOf(day)) },
    'contact-info': contact,
    'report-id': reportId(facts),
    policies: types.map((type) => resultsUnder(type, facts)),
  }
  return gzipSync(JSON.stringify(report))
}

const secondsOf = (at: Date) => at.toISOString().replace(/\.\d{3}Z$/, 'Z')
const lastSecondOf = (day: Date) => new Date(day.getTime() + DAY_MS - 1)

function resultsUnder(type: ReportedCount['policy'], { domain, counts, policy, tlsa }: ReportFacts) {
  const own = counts.filter((count) => count.policy === type)
  const failures = own.filter(({ result }) => result !== 'success')
  const sum = (some: readonly ReportedCount[]) => some.reduce((total, { count }) => total + count, 0)
  const text =
    type === 'sts' && policy
      ? { 'policy-string': linesOf(policy), 'mx-host': policy.mx }
      : type === 'tlsa' && tlsa.length > 0
        ? { 'policy-string': tlsa.flatMap(recordsOf), 'mx-host': tlsa.map(({ host }) => host) }
        : {}
  return {
    policy: { 'policy-type': type, ...text, 'policy-domain': domain },
    summary: { 'total-successful-session-count': sum(own) - sum(failures), 'total-failure-session-count': sum(failures) },
    ...(failures.length > 0 && {
      'failure-details': failures.flatMap(detailsOf),
    }),
  }
}

/** One for each mail host, and one for what is counted without. */
function detailsOf({ result, count, hosts }: ReportedCount) {
  const named = Object.entries(hosts)
  const unnamed = named.reduce((rest, [, failed]) => rest - failed, count)
  return [
    ...named.map(([host, failed]) => ({ 'result-type': result, 'receiving-mx-hostname': host, 'failed-session-count': failed })),
    ...(unnamed > 0 ? [{ 'result-type': result, 'failed-session-count': unnamed }] : []),
  ]
}

const linesOf = ({ mode, mx, maxAgeS }: MtaStsPolicy) => [
  'version: STSv1',
  `mode: ${mode}`,
  ...mx.map((host) => `mx: ${host}`),
  `max_age: ${maxAgeS}`,
]

/** The records as zone files have them (RFC 6698 §2.2). */
const recordsOf = ({ name, records }: HostRecords): string[] =>
  records.map(
    ({ usage, selector, matchingType, data }) =>
      `${name}. IN TLSA ${usage} ${selector} ${matchingType} ${data.toString('hex').toUpperCase()}`,
  )

const LINE = /.{1,76}/g

/** The email, without a signature. */
export function reportMail(facts: ReportFacts, message: { from: string; to: string[]; messageId: string; date: Date }): Buffer {
  const { day, domain, submitter } = facts
  const id = reportId(facts)
  const boundary = `report-${randomBytes(12).toString('hex')}`
  const file = `${submitter}!${domain}!${day.getTime() / 1000}!${Math.floor(lastSecondOf(day).getTime() / 1000)}!001.json.gz`
  const lines = [
    `From: ${message.from}`,
    `To: ${message.to.join(',\r\n ')}`,
    `Subject: Report Domain: ${domain}\r\n Submitter: ${submitter}\r\n Report-ID: <${id}>`,
    `Date: ${message.date.toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: ${message.messageId}`,
    `TLS-Report-Domain: ${domain}`,
    `TLS-Report-Submitter: ${submitter}`,
    // A fault of TLS, which the report may be about, must not keep it (RFC 8689).
    'TLS-Required: No',
    'Auto-Submitted: auto-generated',
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type="tlsrpt";\r\n boundary="${boundary}"`,
    '',
    `--${boundary}`,
    'Content-Type: text/plain; charset=us-ascii',
    '',
    `This is an aggregate report about TLS for the email that ${submitter} sent to ${domain} on ${day.toISOString().slice(0, 10)}.`,
    '',
    `--${boundary}`,
    `Content-Type: application/tlsrpt+gzip; name="${file}"`,
    'Content-Transfer-Encoding: base64',
    `Content-Disposition: attachment;\r\n filename="${file}"`,
    '',
    ...(compressedReport(facts).toString('base64').match(LINE) ?? []),
    `--${boundary}--`,
    '',
  ]
  return Buffer.from(lines.join('\r\n'))
}
