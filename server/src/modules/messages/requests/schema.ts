import { type Static, Type } from 'typebox'
import type { CampaignId, KeyId, MessageId, UserId } from '../../../lib/ids.ts'
import { type Channel, IdOf, Instant, Nullable, OneOf } from '../../../lib/shapes.ts'
import { MESSAGE_STATES, type Reason, type TriggeringEvent } from '../schema.ts'

/** A message that a request asks for, before it is known whether it is a repetition. */
export type AskedMessage = {
  id: MessageId
  /** What makes a repetition of the request the same message. */
  key: string | null
  /** A keyed hash of everything that was asked for. */
  fingerprint: string
  sent_by: KeyId | null
  locale: string | null
  content_id: number | null
  redact: readonly string[]
  /** The values of these paths, encrypted. */
  sealed: string | null
  /** Further headers of an email. */
  headers: Record<string, string> | null
  /** How many files the email has, and their size together. */
  attachments: number
  attachment_bytes: number
  /** How long the message lives; null if its campaign says so. */
  expires_after_minutes: number | null
}

/** A message that a request asks for, with what was decided. */
export type RequestedMessage = {
  id: MessageId
  user_id: UserId
  campaign_id: CampaignId
  channel: Channel
  /** What templates read, without the values that are redacted. */
  event: TriggeringEvent | null
  state: 'queued' | 'skipped'
  reason: Reason | null
  detail: string | null
  due_at: Date
  expires_at: Date | null
  /** Of a message that is sent again, and which one it is. */
  variant?: number | null
  resent_from?: MessageId
  /** False if it is sent again and no request asked for the first one. */
  is_requested?: boolean
}

/** The message that a key stands for. */
export const KeyedMessage = Type.Object({
  key: Type.String(),
  fingerprint: Type.String(),
  id: IdOf<MessageId>(),
  user_id: IdOf<UserId>(),
  campaign_id: IdOf<CampaignId>(),
  state: OneOf(MESSAGE_STATES),
  reason: Nullable(Type.String()),
  detail: Nullable(Type.String()),
})
export type KeyedMessage = Static<typeof KeyedMessage>

/** Content that came with a request, compiled. */
export const MessageContent = Type.Object({
  id: IdOf<number>(),
  hash: Type.String(),
  locale: Type.String(),
  data: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
  compiled: Type.Unsafe<Record<string, string>>({ type: 'object' }),
  created_at: Instant,
})
export type MessageContent = Static<typeof MessageContent>

/** What the request of a message gave, as sending it needs it. */
export type MessageRequest = {
  message_id: MessageId
  /** The locale whose template is used, instead of that of the user. */
  locale: string | null
  redact: string[]
  sealed: string | null
  headers: Record<string, string> | null
  attachments: number
  attachment_bytes: number
  /** The content; null if the campaign has the templates. */
  content: MessageContent | null
}
