/** What an attempt to deliver shows about TLS, in the words of TLS reports (D-MTA-24, RFC 8460 §4.3). Pure. */
import type { DeliveryStep, RecipientOutcome } from '../../../infra/outgoing/mx/outcome.ts'
import type { Peer } from '../../../infra/outgoing/smtp/failures.ts'
import { type MtaStsPolicy, matchesMx } from '../../../lib/mta-sts.ts'

/** The policy that an attempt was made under: DANE, MTA-STS in the mode `enforce` or `testing`, or none. */
export const TLS_POLICIES = ['tlsa', 'sts', 'no-policy-found'] as const
export type TlsPolicy = (typeof TLS_POLICIES)[number]

export const TLS_RESULTS = [
  'success',
  'starttls-not-supported',
  'certificate-host-mismatch',
  'certificate-expired',
  'certificate-not-trusted',
  'validation-failure',
] as const
export type TlsResult = (typeof TLS_RESULTS)[number]

/** One result of an attempt. Without a domain it is counted with those of other domains. Failures have the mail host. */
export type TlsCount = { domain: string | null; policy: TlsPolicy; result: TlsResult; host?: string }

type Attempt = {
  domain: string
  policy: MtaStsPolicy | null
  steps: readonly DeliveryStep[]
  outcomes: Iterable<RecipientOutcome>
}

/** The results of an attempt: one for each host whose TLS failed, and one for the host that took the email. */
export function tlsCountsOf({ domain, policy, steps, outcomes }: Attempt): TlsCount[] {
  const asks = policy !== null && policy.mode !== 'none' ? policy : null
  // DANE replaces MTA-STS for a host.
  const policyAt = (peer: Peer): TlsPolicy => (peer.isDane ? 'tlsa' : asks ? 'sts' : 'no-policy-found')
  const failures = steps.flatMap((step) =>
    // A reply, such as that the host is busy, says nothing about TLS.
    step.is === 'failed' && step.stage === 'STARTTLS' && !step.reply
      ? [{ policy: policyAt(step.peer), result: failureOf(step), host: step.host }]
      : [],
  )
  const taken = takenBy(outcomes)
  const isCounted = taken !== undefined && (taken.peer.tls !== undefined || failures.length === 0)
  const results = [...failures, ...(isCounted ? [{ policy: policyAt(taken.peer), result: resultAt(taken, asks), host: taken.host }] : [])]
  return results.map(({ policy, result, host }) => ({
    // Most deliveries succeed and are under no policy. Their domains are of no interest.
    domain: policy !== 'no-policy-found' || result !== 'success' ? domain : null,
    policy,
    result,
    ...(result !== 'success' && { host }),
  }))
}

type Taken = Extract<RecipientOutcome, { is: 'delivered' }>

function takenBy(outcomes: Iterable<RecipientOutcome>): Taken | undefined {
  for (const outcome of outcomes) if (outcome.is === 'delivered') return outcome
  return undefined
}

/** What the connection to a host was worth. A policy in the mode `testing` did not prevent it. */
function resultAt({ host, peer }: Taken, policy: MtaStsPolicy | null): TlsResult {
  if (!peer.tls) return peer.hadBrokenTls ? 'validation-failure' : 'starttls-not-supported'
  if (!policy || peer.isDane) return 'success'
  if (!matchesMx(policy.mx, host)) return 'validation-failure'
  return peer.tls.verified ? 'success' : 'certificate-not-trusted'
}

/** What the library says of certificates, and the type that means. */
const MEANINGS: readonly [RegExp, TlsResult][] = [
  [/certificate has expired/i, 'certificate-expired'],
  [/does not match certificate/i, 'certificate-host-mismatch'],
  [/self-signed|unable to (?:get|verify)|untrusted/i, 'certificate-not-trusted'],
]

function failureOf({ noTls, reason }: Extract<DeliveryStep, { is: 'failed' }>): TlsResult {
  if (noTls) return 'starttls-not-supported'
  return MEANINGS.find(([pattern]) => pattern.test(reason))?.[1] ?? 'validation-failure'
}
