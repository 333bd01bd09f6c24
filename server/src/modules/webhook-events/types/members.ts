/** Members of `data` that several kinds share (D-WH-3, D-WH-5). Optional members are present if they are known. */
import { type TSchema, Type } from 'typebox'
import type { CampaignId, JourneyId, MessageId, UserId } from '../../../lib/ids.ts'
import { CHANNELS, Exact, IdOf, Nullable, OneOf } from '../../../lib/shapes.ts'

const RESPONSE_LENGTH_MAX = 1000

/** The reply of a host, or an error message. */
export const Words = Type.String({ maxLength: RESPONSE_LENGTH_MAX })
export const Count = Type.Integer({ minimum: 0 })
export const ElapsedMs = Type.Integer({ minimum: 0, description: 'Duration in milliseconds.' })
export const Host = Type.String({ description: 'The mail host or relay.' })
export const Ip = Type.String({ description: 'The IP address of the mail host or relay.' })
export const SmtpCode = Type.Integer({ minimum: 200, maximum: 599, description: 'SMTP reply code.' })
export const EnhancedCode = Type.String({ description: 'Enhanced status code, such as `5.1.1` (RFC 3463).' })
export const Reason = Type.String({ maxLength: RESPONSE_LENGTH_MAX, description: 'The reason for the failure.' })
export const Address = Type.String()
export const Addresses = Type.Array(Address)
const User = Exact({ id: IdOf<UserId>(), external_id: Nullable(Type.String()) })

const message = {
  message_id: Type.Optional(IdOf<MessageId>({ description: 'Id of the message.' })),
  campaign_id: Type.Optional(IdOf<CampaignId>({ description: 'Id of its campaign.' })),
  journey_id: Type.Optional(IdOf<JourneyId>({ description: 'Id of its journey.' })),
  user: Type.Optional(User),
  channel: Type.Optional(OneOf(CHANNELS)),
  from: Type.Optional(Type.String({ description: 'The sender. For email, the address in its `From` header.' })),
  to: Type.Optional(
    Type.Union([Address, Addresses], { description: 'The recipient, or all recipients if the event is about the whole message.' }),
  ),
  recipient_domain: Type.Optional(Type.String({ description: 'The domain of the recipient.' })),
  attempt: Type.Optional(Type.Integer({ minimum: 1, description: 'Number of the attempt.' })),
  attempt_id: Type.Optional(Type.String({ description: 'Id of the attempt. All events of an attempt have the same id.' })),
  queue_id: Type.Optional(Type.String({ description: 'The queue id from the reply of the SMTP server.' })),
  envelope_id: Type.Optional(Type.String({ description: 'The id that the SMTP client gave the email (ENVID of RFC 3461).' })),
  rfc_message_id: Type.Optional(Type.String({ description: 'The Message-ID header.' })),
}

/** The data of an event about a message: members about the message, and `own` members. */
export const AboutMessage = <const P extends Record<string, TSchema>>(own: P) => Exact({ ...message, ...own })

/** The message of all samples. */
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
