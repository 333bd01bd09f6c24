/** What is in the mail queue. */
import { type Static, Type } from 'typebox'
import type { CampaignId, JourneyId, KeyId, MessageId, ProjectId } from '../../../lib/ids.ts'
import { Flag, IdOf, Instant, Nullable, OneOf } from '../../../lib/shapes.ts'
import type { MailPriority } from '../shaping/retries.ts'
import type { StoredContent } from './content.ts'

/** Where an email comes from: a message of a campaign, a journey or a request, an SMTP client, or a report about TLS. */
export const MAIL_SOURCES = ['message', 'submission', 'report'] as const
export type MailSource = (typeof MAIL_SOURCES)[number]

/** An email to deliver. It is composed, and signed if its domain has keys. */
export type NewMail = {
  id: MessageId
  source: MailSource
  priority: MailPriority
  campaign_id: CampaignId | null
  journey_id: JourneyId | null
  /** The key that submitted it. */
  key_id: KeyId | null
  /** The address of the sender. */
  mail_from: string
  /** The domain of the return paths; without one, what bounces is returned to the sender. */
  return_domain: string | null
  rfc_message_id: string
  /** The addresses, copies included. Of a message, its user comes first. */
  to: readonly string[]
  content: StoredContent
  needs_8bit: boolean
  needs_smtp_utf8: boolean
  /** The minutes between attempts, if its campaign has its own. */
  retry_minutes?: number[] | null
  expires_at: Date
  /** What an SMTP client asked for; absent for other email. */
  reports?: RequestedReports
}

/** The parameters of delivery notifications of an SMTP client (RFC 3461). `recipients` has the order of `to`. */
export type RequestedReports = {
  envelope_id: string | null
  returns: ReturnedContent | null
  recipients: { notify: string[] | null; original_recipient: string | null }[]
}

const RETURNED_CONTENTS = ['FULL', 'HDRS'] as const
export type ReturnedContent = (typeof RETURNED_CONTENTS)[number]

export const RECIPIENT_STATES = ['queued', 'claimed', 'delivered', 'failed', 'expired', 'cancelled'] as const
export type RecipientState = (typeof RECIPIENT_STATES)[number]

/** An attempt, as timelines show it. */
export type PastAttempt = {
  attempt: number
  at: string
  outcome: 'delivered' | 'failed' | 'deferred' | 'uncertain' | 'expired' | 'cancelled'
  host?: string
  ip?: string
  code?: number
  enhanced_code?: string
  /** Before the host knew of the recipient. */
  sender_refused?: true
  response?: string
  tls?: string
  detail?: string
}

/**
 * A recipient that this process delivers to until its lease ends. `attempts` includes the one that begins, whose number is `attempt`: a message
 * that is sent again at another time has had earlier ones.
 */
export const ClaimedRecipient = Type.Object({
  project_id: IdOf<ProjectId>(),
  mail_id: IdOf<MessageId>(),
  no: Type.Integer(),
  address: Type.String(),
  domain: Type.String(),
  site: Nullable(Type.String()),
  campaign_id: Nullable(IdOf<CampaignId>()),
  size: Type.Integer(),
  attempts: Type.Integer(),
  attempt: Type.Integer(),
  due_at: Instant,
  /** Of the attempt before. */
  last_attempt_at: Nullable(Instant),
  last_error: Nullable(Type.String()),
  /** The host had refused the sender then, before it knew of the recipient. */
  was_sender_refused: Flag,
  /** A host has replied in an attempt. */
  was_answered: Flag,
  /** The reports that an SMTP client asked for, and the address as it wrote it. */
  notify: Nullable(Type.Array(Type.String())),
  original_recipient: Nullable(Type.String()),
  lease_token: Type.String(),
})
export type ClaimedRecipient = Static<typeof ClaimedRecipient>

/** An email in the queue, without its content. */
export const MailRow = Type.Object({
  id: IdOf<MessageId>(),
  source: OneOf(MAIL_SOURCES),
  priority: Type.Unsafe<MailPriority>({ type: 'integer' }),
  campaign_id: Nullable(IdOf<CampaignId>()),
  journey_id: Nullable(IdOf<JourneyId>()),
  mail_from: Type.String(),
  return_domain: Nullable(Type.String()),
  rfc_message_id: Type.String(),
  size: Type.Integer(),
  recipients: Type.Integer(),
  needs_smtp_utf8: Type.Boolean(),
  needs_8bit: Type.Boolean(),
  /** The id that an SMTP client gave it, and what its reports shall return. */
  envelope_id: Nullable(Type.String()),
  returns: Nullable(OneOf(RETURNED_CONTENTS)),
  created_at: Instant,
  retry_minutes: Nullable(Type.Array(Type.Integer())),
  expires_at: Instant,
  completed_at: Nullable(Instant),
})
export type MailRow = Static<typeof MailRow>

/** What an attempt, or the decision against one, means for a recipient. */
export type RecipientResult = {
  mail_id: MessageId
  no: number
  lease_token: string
  state: Exclude<RecipientState, 'claimed'>
  /** When it is tried again, for those that are queued again. */
  due_at: Date | null
  site: string | null
  /** It was not an attempt, so it does not count. */
  is_untried: boolean
  /** Its campaign, its site or the project is paused. */
  is_held: boolean
  history: PastAttempt | null
}

/** The jobs that deliver, by priority, for those who enqueue email. */
export const DELIVER_JOBS: Record<MailPriority, { readonly name: string }> = {
  0: { name: 'mail.deliver' },
  1: { name: 'mail.deliver-bulk' },
  2: { name: 'mail.deliver-timed' },
}
