/** Members that the payloads of several kinds share (D-WH-3, D-WH-5). Optional ones are there when they are known. */
import { type TSchema, Type } from 'typebox'
import type { CampaignId, JourneyId, MessageId, UserId } from '../../../lib/ids.ts'
import { CHANNELS, Exact, IdOf, Nullable, OneOf } from '../../../lib/shapes.ts'

const RESPONSE_LENGTH_MAX = 1000

/** What a host said, or what went wrong, as text. */
export const Words = Type.String({ maxLength: RESPONSE_LENGTH_MAX })
export const Count = Type.Integer({ minimum: 0 })
export const ElapsedMs = Type.Integer({ minimum: 0, description: 'Duration in milliseconds.' })
export const Host = Type.String({ description: 'The mail host or relay.' })
export const Ip = Type.String({ description: 'Its IP address.' })
export const SmtpCode = Type.Integer({ minimum: 200, maximum: 599, description: 'Reply code of SMTP.' })
export const EnhancedCode = Type.String({ description: 'Enhanced status code, such as `5.1.1` (RFC 3463).' })
export const Reason = Type.String({ maxLength: RESPONSE_LENGTH_MAX, description: 'What went wrong.' })
export const Address = Type.String()
export const Addresses = Type.Array(Address)
const User = Exact({ id: IdOf<UserId>(), external_id: Nullable(Type.String()) })

const message = {
  message_id: Type.Optional(IdOf<MessageId>({ description: 'The message.' })),
  campaign_id: Type.Optional(IdOf<CampaignId>({ description: 'The campaign it belongs to.' })),
  journey_id: Type.Optional(IdOf<JourneyId>({ description: 'The journey that asked for it.' })),
  user: Type.Optional(User),
  channel: Type.Optional(OneOf(CHANNELS)),
  from: Type.Optional(Type.String({ description: 'The sender; of the envelope for email, `<>` when it is empty.' })),
  to: Type.Optional(
    Type.Union([Address, Addresses], { description: 'The recipient, or all of them when the event is about the whole message.' }),
  ),
  recipient_domain: Type.Optional(Type.String({ description: 'The domain of the recipient.' })),
  attempt: Type.Optional(Type.Integer({ minimum: 1, description: 'Number of the attempt.' })),
  attempt_id: Type.Optional(Type.String({ description: 'The same for all events of one attempt.' })),
  queue_id: Type.Optional(Type.String({ description: 'What the SMTP server named when it queued the message.' })),
  rfc_message_id: Type.Optional(Type.String({ description: 'The Message-ID header.' })),
}

/** The data of an event about a message: what is known of the message, and members of its own. */
export const AboutMessage = <const P extends Record<string, TSchema>>(own: P) => Exact({ ...message, ...own })

/** The message that the samples are about. */
export const sampleMessage = {
  message_id: 88_214 as MessageId,
  campaign_id: 7 as CampaignId,
  user: { id: 1042 as UserId, external_id: 'customer-1042' },
  channel: 'email' as const,
  from: 'hello@news.example.com',
  to: 'kim@example.org',
  recipient_domain: 'example.org',
  attempt: 1,
}
