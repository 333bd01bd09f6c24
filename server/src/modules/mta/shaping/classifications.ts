/** What a failure of an email is about, whether it counts as a bounce, and whether it suppresses the address. A table. */
import { DAY_MS } from '../../../lib/times.ts'

/** Why an email was not delivered. Public: the member `classification` of webhook events and of messages. */
export const LABELS = [
  'invalid-recipient',
  'inactive-mailbox',
  'mailbox-full',
  'message-too-large',
  'sender-reputation',
  'spam-content',
  'auth-policy',
  'greylisted',
  'throttled',
  'routing',
  'dns',
  'connection',
  'tls',
  'protocol',
  'expired',
  'auto-reply',
  'challenge',
  'complaint',
  'suppressed',
  'other',
] as const
export type Label = (typeof LABELS)[number]

/** When bounces suppress an address: at once, after so many within a time, on so many different days, or never. */
export type Suppresses =
  | { is: 'at once' }
  | { is: 'after'; bounces: number; withinMs: number /** Bounces of one day count once. */; onDifferentDays: boolean }
  | { is: 'never' }

export type Classification = {
  label: Label
  /** How the failure counts: the address is invalid, delivery to it failed, or the sender was refused. `none` is no bounce. */
  bounce: 'hard' | 'soft' | 'block' | 'none'
  isBounce: boolean
  suppresses: Suppresses
  /** Whether another attempt is useless. */
  isPermanent: boolean
}

const NEVER: Suppresses = { is: 'never' }
const AT_ONCE: Suppresses = { is: 'at once' }
const after = (bounces: number, onDifferentDays = false): Suppresses => ({ is: 'after', bounces, withinMs: 30 * DAY_MS, onDifferentDays })

const EFFECTS: Record<Label, Pick<Classification, 'bounce' | 'suppresses'>> = {
  'invalid-recipient': { bounce: 'hard', suppresses: AT_ONCE },
  'inactive-mailbox': { bounce: 'hard', suppresses: AT_ONCE },
  'mailbox-full': { bounce: 'soft', suppresses: after(5) },
  'message-too-large': { bounce: 'soft', suppresses: NEVER },
  'sender-reputation': { bounce: 'block', suppresses: NEVER },
  'spam-content': { bounce: 'block', suppresses: NEVER },
  'auth-policy': { bounce: 'block', suppresses: NEVER },
  greylisted: { bounce: 'block', suppresses: NEVER },
  throttled: { bounce: 'block', suppresses: NEVER },
  routing: { bounce: 'soft', suppresses: after(3) },
  dns: { bounce: 'soft', suppresses: after(3, true) },
  connection: { bounce: 'soft', suppresses: after(3, true) },
  tls: { bounce: 'soft', suppresses: after(3, true) },
  protocol: { bounce: 'soft', suppresses: after(3, true) },
  // A host that refuses every greeting for a day lets all email to it expire.
  expired: { bounce: 'soft', suppresses: after(3, true) },
  'auto-reply': { bounce: 'none', suppresses: NEVER },
  challenge: { bounce: 'none', suppresses: NEVER },
  complaint: { bounce: 'none', suppresses: AT_ONCE },
  suppressed: { bounce: 'none', suppresses: NEVER },
  other: { bounce: 'soft', suppresses: after(3) },
}

/** The effects of a label. A temporary failure is retried, so it is not a bounce and suppresses nothing. */
export function classificationOf(label: Label, isPermanent: boolean): Classification {
  const { bounce, suppresses } = EFFECTS[label]
  if (!isPermanent) return { label, bounce: 'none', isBounce: false, suppresses: NEVER, isPermanent }
  return { label, bounce, isBounce: bounce !== 'none', suppresses, isPermanent }
}

/** What a refusal of the sender can be about; the others would be about a recipient, or say nothing. */
const OF_SENDER: ReadonlySet<Label> = new Set<Label>([
  'message-too-large',
  'spam-content',
  'auth-policy',
  'greylisted',
  'throttled',
  'connection',
  'tls',
  'protocol',
])

/** The effects of a refusal of the sender. It is not about the address that the email was for, whatever its words say. */
export const classificationOfSender = (label: Label, isPermanent: boolean): Classification => ({
  ...classificationOf(OF_SENDER.has(label) ? label : 'sender-reputation', isPermanent),
  suppresses: NEVER,
})

/** Labels that are about the sender or the content, whatever the stage. */
const NOT_OF_RECIPIENT: ReadonlySet<Label> = new Set<Label>(['sender-reputation', 'auth-policy', 'spam-content'])

/**
 * The classification of an email whose time is over; `last` is its last temporary failure. A full mailbox remains one. An email without an
 * attempt, or whose time was cut short or ended in a wait, may have met nothing but a pause or greylisting: that is no failure of the address,
 * nor is one of the sender or the content.
 */
export function classificationOfExpiry(last: Classification | null, { isCutShort = false, isOfSender = false } = {}): Classification {
  if (last?.label === 'mailbox-full') return classificationOf('mailbox-full', true)
  if (last === null || isCutShort || isOfSender || NOT_OF_RECIPIENT.has(last.label))
    return { ...classificationOf('expired', false), isPermanent: true }
  return classificationOf('expired', true)
}
