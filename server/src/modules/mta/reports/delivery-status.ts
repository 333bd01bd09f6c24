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
  const address = firstOf(block, 'original-recipient') ?? firstOf(block, 'final-recipient')
  return {
    action: given ?? BY_CLASS[status?.[0] ?? ''] ?? 'failed',
    address: address === undefined ? null : addressOf(address).toLowerCase(),
    status,
    diagnostic: diagnostic.slice(0, DIAGNOSTIC_LENGTH_MAX),
  }
}

/** What a block without an action means, by the class of its status. */
const BY_CLASS: Record<string, ReportedDelivery['action']> = { '2': 'delivered', '4': 'delayed', '5': 'failed' }

/** The first word: some hosts add a comment. */
const wordOf = (value: string): string => value.toLowerCase().split(/[ ;(]/, 1)[0] ?? ''

/** The status code in a text. */
export const statusIn = (text: string): string | null => /(?:^|[^\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)/.exec(text)?.[1] ?? null

/** The delivery to the address if there is one, or else the worst delivery. */
export function deliveryFor(deliveries: readonly ReportedDelivery[], address: string | null): ReportedDelivery | undefined {
  const own = deliveries.filter((delivery) => delivery.address === address?.toLowerCase())
  const candidates = own.length > 0 ? own : deliveries
  return SEVERITY.flatMap((action) => candidates.find((delivery) => delivery.action === action) ?? [])[0]
}

const SEVERITY: readonly ReportedDelivery['action'][] = ['failed', 'delayed', 'delivered', 'relayed', 'expanded']
