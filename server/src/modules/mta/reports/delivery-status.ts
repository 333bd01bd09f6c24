/** Reads a delivery status notification (RFC 3464, RFC 6533). Pure. */
import { addressOf, blocksOf, type Fields, firstOf, withoutType } from './fields.ts'
import type { ReportedDelivery } from './schema.ts'

const DELIVERIES_MAX = 100
const DIAGNOSTIC_LENGTH_MAX = 1000

/** The recipients of a notification. The first block is about the email. Some hosts write a single block. */
export const deliveriesIn = (text: string): ReportedDelivery[] =>
  blocksOf(text)
    .filter((block) => block.has('action') || block.has('status') || block.has('final-recipient'))
    .slice(0, DELIVERIES_MAX)
    .map(deliveryOf)

const ACTIONS: Record<string, ReportedDelivery['action']> = {
  failed: 'failed',
  failure: 'failed',
  delayed: 'delayed',
  delivered: 'delivered',
  relayed: 'relayed',
  expanded: 'expanded',
}

function deliveryOf(block: Fields): ReportedDelivery {
  const status = statusIn(firstOf(block, 'status') ?? '')
  const given = ACTIONS[wordOf(firstOf(block, 'action') ?? '')]
  const diagnostic = withoutType(firstOf(block, 'diagnostic-code') ?? '') || (firstOf(block, 'status') ?? '')
  return {
    action: given ?? BY_CLASS[status?.[0] ?? ''] ?? 'failed',
    original: addressIn(block, 'original-recipient'),
    final: addressIn(block, 'final-recipient'),
    status,
    diagnostic: diagnostic.slice(0, DIAGNOSTIC_LENGTH_MAX),
  }
}

function addressIn(block: Fields, name: string): string | null {
  const value = firstOf(block, name)
  return value === undefined ? null : addressOf(value).toLowerCase()
}

/** What a block without an action means, by the class of its status. */
const BY_CLASS: Record<string, ReportedDelivery['action']> = { '2': 'delivered', '4': 'delayed', '5': 'failed' }

/** The first word: some hosts add a comment. */
const wordOf = (value: string): string => value.toLowerCase().split(/[ ;(]/, 1)[0] ?? ''

/** The status code in a text. */
export const statusIn = (text: string): string | null => /(?:^|[^\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)/.exec(text)?.[1] ?? null

/** A recipient of an email, with the address that its sender asks hosts to report (`rfc822;kim@example.org`). */
type Addressed = { address: string; original_recipient: string | null }

/**
 * The recipients that a report is about, each with what it says of it, or the worst of that. An only recipient is meant whatever address the report
 * has: its host may have passed the email on.
 */
export function deliveriesByRecipient<R extends Addressed>(
  recipients: readonly R[],
  deliveries: readonly ReportedDelivery[],
): { recipient: R; delivery: ReportedDelivery | undefined }[] {
  const named = Map.groupBy(deliveries, (delivery) => recipientOf(recipients, delivery))
  const [only] = recipients
  if (recipients.length === 1 && only) return [{ recipient: only, delivery: worstOf(named.get(only) ?? deliveries) }]
  return recipients.flatMap((recipient) => {
    const own = named.get(recipient)
    return own ? [{ recipient, delivery: worstOf(own) }] : []
  })
}

/** The recipient with the address that a host was given, or that its sender gave; of several, or of none, the one that it ended at. */
function recipientOf<R extends Addressed>(recipients: readonly R[], { original, final }: ReportedDelivery): R | undefined {
  const given = recipients.filter((one) => original !== null && (isAt(one, original) || originalOf(one) === original))
  const candidates = given.length > 0 ? given : recipients
  return candidates.find((one) => final !== null && isAt(one, final)) ?? (given.length === 1 ? given[0] : undefined)
}

/** An erased address is empty. */
const isAt = ({ address }: Addressed, name: string): boolean => address !== '' && address.toLowerCase() === name

const originalOf = ({ original_recipient: given }: Addressed): string | null => given && addressOf(given).toLowerCase()

/** The worst of what is reported. */
export const worstOf = (deliveries: readonly ReportedDelivery[]): ReportedDelivery | undefined =>
  SEVERITY.flatMap((action) => deliveries.find((delivery) => delivery.action === action) ?? [])[0]

const SEVERITY: readonly ReportedDelivery['action'][] = ['failed', 'delayed', 'delivered', 'relayed', 'expanded']
