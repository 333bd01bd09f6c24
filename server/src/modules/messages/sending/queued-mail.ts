/** The email of a message, for the mail queue. Pure. */

import { lifetimeMs, type MailRetries } from '../../../lib/mail-retries.ts'
import type { QueuedMail } from '../../channels/index.ts'
import { expiresAt, type NewMail, type StoredContent } from '../../mta/index.ts'
import type { ClaimedMessage, Priority } from '../schema.ts'

/** The email of a message. It is given up when its lifetime or the deadline of the message has passed. */
export function mailOf(
  message: ClaimedMessage,
  priority: Priority,
  { mail, content, retries }: { mail: QueuedMail; content: StoredContent; retries: MailRetries | null },
  now: Date,
): NewMail {
  const lifetime = retries ? new Date(now.getTime() + lifetimeMs(retries)) : expiresAt(priority, now)
  const { id, campaign_id, journey_id, expires_at } = message
  return {
    id,
    source: 'message',
    priority,
    campaign_id,
    journey_id,
    key_id: null,
    mail_from: mail.from,
    return_domain: mail.returnDomain,
    rfc_message_id: mail.messageId,
    to: mail.to,
    content,
    needs_8bit: false,
    needs_smtp_utf8: mail.needsSmtpUtf8,
    retry_minutes: retries?.after_minutes ?? null,
    expires_at: expires_at !== null && expires_at < lifetime ? expires_at : lifetime,
  }
}
