/** What is read of a report that came by email. */

/** What a mail host reports of one recipient. */
export type ReportedDelivery = {
  /** `failed` is final; `delayed` is tried again; the others are no failures. */
  action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'
  /** The address as it was given to the host, and the one that it ended at, in lower case. */
  original: string | null
  final: string | null
  /** The status code (RFC 3463). */
  status: string | null
  /** The reply of the mail host, or the text of the report. */
  diagnostic: string
}

export const FEEDBACK_TYPES = ['abuse', 'fraud', 'virus'] as const
export type FeedbackType = (typeof FEEDBACK_TYPES)[number]

/** A complaint (RFC 5965). */
export type Feedback = {
  type: FeedbackType
  incidents: number
  reporter: string | null
  userAgent: string | null
  sourceIp: string | null
  arrivedAt: Date | null
  reportedDomains: string[]
  reportedUris: string[]
  mailFrom: string | null
  recipients: string[]
}

/** What shows which email a report is about: texts that may contain a return path, and Message-IDs. */
export type References = { paths: string[]; messageIds: string[] }

/** `auto-reply`, `challenge` and `other` say nothing of delivery. */
export type MailReport =
  | ({ is: 'delivery'; deliveries: ReportedDelivery[] } & References)
  | ({ is: 'feedback'; feedback: Feedback } & References)
  | { is: 'auto-reply' | 'challenge' | 'other' }
