import { type Static, Type } from 'typebox'
import type { CampaignId, MessageId, UserId } from '../../../lib/ids.ts'
import { CHANNELS, Exact, IdOf, Instant, Line, Nullable, OneOf, Timestamp } from '../../../lib/shapes.ts'
import { MESSAGE_CONTENTS } from '../../channels/index.ts'
import { Finding } from '../../templates/index.ts'
import { LINK_KINDS, LINK_PROBLEMS, SANDBOX_LINKS_MAX } from './sandbox-links.ts'

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
  tag: Type.Optional(Line(64, { minLength: 1, description: 'A tag of the campaign or of the journey that sent the message.' })),
  has_link: Type.Optional(
    OneOf(['true', 'false'], {
      description: 'Whether the message has a link: in the HTML or the text, or as the URL of a push or in-app message.',
    }),
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
      description: 'For an email, the headers that are not in `content`, such as `List-Unsubscribe`.',
    }),
  ),
  view_url: Type.Optional(
    Type.String({
      description:
        'For an email to a user: the URL of a page that shows the email in the browser, rendered with current data. Opening the page is not counted.',
    }),
  ),
  preferences_url: Type.Optional(
    Type.String({
      description: 'For a message to a user: the URL of the preference page as the user would see it. The page saves nothing.',
    }),
  ),
  source: Type.Optional(Type.String({ description: 'For an email, the source as an SMTP relay would have received it.' })),
  created_at: Timestamp,
})
export type SandboxMessageWhole = Static<typeof SandboxMessageWhole>

export const ReleaseInput = Exact({
  to: Line(254, { minLength: 1, format: 'email', description: 'The email address of a member who has a role in the project.' }),
})
export type ReleaseInput = Static<typeof ReleaseInput>

export const Release = Exact({
  is_accepted: Type.Boolean({ description: 'Whether the relay of this server accepted the copy.' }),
  message: Nullable(Type.String({ description: 'Why the relay did not accept the copy; null if it did.' })),
})
export type Release = Static<typeof Release>

const SandboxLink = Exact({
  url: Type.String({ description: 'The URL as it is in the message.' }),
  target: Nullable(Type.String({ description: 'Where a tracked link leads.' })),
  text: Type.String({ description: 'The text of the link.' }),
  line: Type.Integer({ minimum: 1, description: 'The line in the HTML.' }),
  kind: OneOf(LINK_KINDS, {
    description:
      'What the link is. `tracked`, `unsubscribe`, `preferences` and `view` are links of this server; `app` has a scheme of its own, `anchor` is a place in the message, and `none` leads nowhere.',
  }),
  problem: Nullable(
    OneOf(LINK_PROBLEMS, {
      description:
        'Why the link, or the target of a tracked link, may not work for the recipient. `empty`: it has no URL. `relative`: it is a relative URL, which does not work in an email. `script`: it would run a script. `syntax`: the URL is malformed. `loopback`: the host is the recipient’s own machine. `insecure`: it does not use TLS.',
    }),
  ),
})

/** What is wrong with a sandbox message, and its links. */
export const SandboxMessageCheck = Exact({
  size_bytes: Nullable(Type.Integer({ description: 'The size of the HTML; null if the message has none.' })),
  findings: Type.Array(Finding, {
    description: 'Problems, the most severe first. `param` is the member of the content that has the problem.',
  }),
  links: Type.Array(SandboxLink, { description: `The links in the HTML, in order. At most ${SANDBOX_LINKS_MAX}.` }),
})
export type SandboxMessageCheck = Static<typeof SandboxMessageCheck>
