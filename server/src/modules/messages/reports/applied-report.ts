import type { Report } from '../../channels/index.ts'
import type { BouncedAddress } from '../../subscriptions/index.ts'

/** What a mail host replied, how that is classified, and when it suppresses the address. */
export type ReportedBounce = Pick<BouncedAddress, 'label' | 'suppresses'> & { smtp_code?: number; enhanced_code?: string }

/** The members of a complaint that the webhook event has. */
export type ReportedFeedback = {
  incidents: number
  arrival_date: Date
  reporter?: string
  source_ip?: string
  user_agent?: string
  reported_domain?: string[]
  reported_uri?: string[]
  original_mail_from?: string
  original_rcpt_to?: string[]
}

/** A report of a provider, or one that came by email, which tells more. */
export type AppliedReport = Report & {
  bounce?: ReportedBounce
  feedback?: ReportedFeedback
  /** The email that it is about, if the mail queue still has it. */
  mail?: { from: string; rfc_message_id: string | null }
  /**
   * It is about a copy, or nothing shows that it is about the recipient: the address that it names. It is an event, and changes neither the
   * message nor its user, nor suppresses the address.
   */
  other?: string | null
  /** It suppresses no address. */
  isActedOut?: true
}

/** A report about an erased recipient, without what may name it. Its address stays for the suppression, which keeps only a hash. */
export function withoutNames({ diagnostic: _, feedback, ...report }: AppliedReport): AppliedReport {
  if (!feedback) return report
  const { original_rcpt_to: __, reported_uri: ___, ...kept } = feedback
  return { ...report, feedback: kept }
}
