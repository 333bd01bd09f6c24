import { type Static, Type } from 'typebox'
import type { CampaignId, MessageId, UserId } from '../../../lib/ids.ts'
import { CHANNELS, Exact, IdOf, Instant, Line, Nullable, OneOf, Timestamp } from '../../../lib/shapes.ts'
import { MESSAGE_CONTENTS } from '../../channels/index.ts'

const columns = {
  id: IdOf<MessageId>({ description: 'The id of the message, which webhook events carry as `message_id`.' }),
  channel: OneOf(CHANNELS),
  campaign_id: Nullable(IdOf<CampaignId>({ description: 'Null for an email that was submitted over SMTP.' })),
  user_id: Nullable(IdOf<UserId>({ description: 'Null for an email that was submitted over SMTP.' })),
  recipient: Type.String({
    description:
      'The email address, phone number or webhook endpoint; for push and in-app messages the external or anonymous id of the user.',
  }),
  summary: Type.String({ description: 'One line: the subject, the title or the start of the body.' }),
}

const TEXT_LENGTH_MAX = 255

/** What sandbox messages can be filtered by. */
export const SandboxQuery = Exact({
  to: Type.Optional(Line(TEXT_LENGTH_MAX, { description: 'A part of the recipient.' })),
  subject: Type.Optional(Line(TEXT_LENGTH_MAX, { description: 'A part of the summary, which is the subject of an email.' })),
  channel: Type.Optional(OneOf(CHANNELS, { description: 'The channel.' })),
  campaign_id: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$', problem: 'is not an id', description: 'The id of a campaign.' })),
  has_link: Type.Optional(
    OneOf(['true', 'false'], { description: 'Whether there is a link to press: in HTML, a text, or the URL of a push or in-app message.' }),
  ),
  has_attachment: Type.Optional(OneOf(['true', 'false'], { description: 'Whether an email has attachments or inline images.' })),
})
export type SandboxQuery = Static<typeof SandboxQuery>

export const SandboxMessageRow = Type.Object({ ...columns, created_at: Instant })
export type SandboxMessageRow = Static<typeof SandboxMessageRow>

export const SandboxMessageWholeRow = Type.Object({
  ...SandboxMessageRow.properties,
  content: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
  headers: Nullable(Type.Unsafe<Record<string, string>>({ type: 'object' })),
  template_id: Nullable(Type.Integer()),
  made_at: Nullable(Instant),
  source: Nullable(Type.String()),
})

/** A message that was stored for inspection instead of sent. */
export const SandboxMessage = Exact({ ...columns, created_at: Timestamp })

/** A sandbox message with its content. */
export const SandboxMessageWhole = Exact({
  ...columns,
  external_id: Nullable(Type.String({ description: 'The external id of the user.' })),
  content: Type.Unsafe<Record<string, unknown>>({
    anyOf: MESSAGE_CONTENTS,
    description: 'The content; its members depend on the channel.',
  }),
  headers: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'Of an email: the headers beside those that `content` has, such as `List-Unsubscribe`.',
    }),
  ),
  source: Type.Optional(Type.String({ description: 'Of an email: the source, as an SMTP relay would have got it.' })),
  created_at: Timestamp,
})
export type SandboxMessageWhole = Static<typeof SandboxMessageWhole>
