import { type Static, Type } from 'typebox'
import type { CampaignId, MessageId } from '../../../lib/ids.ts'
import { Exact, IdOf, Line, Nullable, OneOf, Timestamp } from '../../../lib/shapes.ts'

const NAME_LENGTH_MAX = 255
const IdText = (description: string) => Type.String({ pattern: '^[0-9]{1,15}$', problem: 'is not an id', description })

/** What the mail queue can be filtered by. */
export const MailQueueQuery = Exact({
  state: Type.Optional(
    OneOf(['waiting', 'delivered', 'failed', 'expired', 'cancelled'], {
      description:
        '`waiting` includes paused email and email that is being delivered. Default: `waiting`, or with `message_id` every state.',
    }),
  ),
  message_id: Type.Optional(IdText('The id of an email: all of its recipients, whatever their state is.')),
  campaign_id: Type.Optional(IdText('The id of a campaign.')),
  site: Type.Optional(Line(NAME_LENGTH_MAX, { description: 'The key of a mail site, from `GET /mail-sites`.' })),
  domain: Type.Optional(Line(NAME_LENGTH_MAX, { description: 'The domain of recipients.' })),
})
export type MailQueueQuery = Static<typeof MailQueueQuery>

/** An attempt to deliver an email. */
export const DeliveryAttempt = Exact({
  attempt: Type.Integer({ description: 'The number of the attempt.' }),
  at: Type.String({ format: 'date-time', description: 'When the attempt ended.' }),
  outcome: OneOf(['delivered', 'failed', 'deferred', 'uncertain', 'expired', 'cancelled'], {
    description:
      '`uncertain`: the host may have accepted the email. If it did not reply, the email is delivered again; if its reply could not be saved, the recipient is `failed`.',
  }),
  host: Type.Optional(Type.String({ description: 'The mail host.' })),
  ip: Type.Optional(Type.String({ description: 'The IP address of the mail host.' })),
  code: Type.Optional(Type.Integer({ description: 'The code of the host’s reply.' })),
  enhanced_code: Type.Optional(Type.String({ description: 'The enhanced status code of the host’s reply (RFC 3463).' })),
  sender_refused: Type.Optional(
    Type.Boolean({ description: 'True if the host refused the sender, before the recipient was named. Absent otherwise.' }),
  ),
  response: Type.Optional(Type.String({ description: 'The text of the host’s reply.' })),
  tls: Type.Optional(Type.String({ description: 'How the connection was encrypted; absent if it was not.' })),
  detail: Type.Optional(Type.String({ description: 'The failure, if there was no reply.' })),
})

/** A recipient in the mail queue. */
export const QueuedRecipient = Exact(
  {
    message_id: IdOf<MessageId>({ description: 'The id of the message, or of the email that was submitted over SMTP.' }),
    campaign_id: Nullable(IdOf<CampaignId>()),
    source: OneOf(['message', 'submission', 'report'], {
      description: 'A Carillon message, an email that was submitted over SMTP, or a daily TLS report to the domain.',
    }),
    from: Type.String(),
    recipient: Type.String({ description: 'Empty if the user was erased.' }),
    domain: Type.String(),
    site: Nullable(Type.String({ description: 'The key of the mail site; null until it is known.' })),
    state: OneOf(['waiting', 'paused', 'delivering', 'delivered', 'failed', 'expired', 'cancelled'], {
      description: 'The result for the recipient. `expired`: the email’s lifetime ended.',
    }),
    attempts: Type.Integer(),
    next_attempt_at: Nullable(Timestamp),
    last_attempt: Nullable(DeliveryAttempt),
    created_at: Timestamp,
    expires_at: Timestamp,
    finished_at: Nullable(Timestamp),
  },
  { title: 'QueuedRecipient' },
)
export type QueuedRecipient = Static<typeof QueuedRecipient>

const MESSAGES_MAX = 1000

/** Which waiting email: all of these conditions hold, and there is at least one. */
export const MailChoice = Exact(
  {
    message_ids: Type.Optional(Type.Array(IdOf<MessageId>(), { minItems: 1, maxItems: MESSAGES_MAX, description: 'The messages.' })),
    campaign_id: Type.Optional(IdOf<CampaignId>()),
    site: Type.Optional(Line(NAME_LENGTH_MAX, { description: 'The key of a mail site, from `GET /mail-sites`.' })),
    domain: Type.Optional(Line(NAME_LENGTH_MAX)),
  },
  { minProperties: 1 },
)
export type MailChoice = Static<typeof MailChoice>

/** What to pause: a campaign, a site, or all email of the project without either. */
export const PauseTarget = Exact({
  campaign_id: Type.Optional(IdOf<CampaignId>()),
  site: Type.Optional(Line(NAME_LENGTH_MAX, { description: 'The key of a mail site, from `GET /mail-sites`.' })),
})
export type PauseTarget = Static<typeof PauseTarget>

export const PausedTargets = Exact({
  results: Type.Array(PauseTarget, { description: 'The pauses. An empty item pauses all email of the project.' }),
})

export const ChangedRecipients = Exact({ recipients: Type.Integer({ description: 'How many recipients were affected.' }) })
