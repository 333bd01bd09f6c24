import { type Static, Type } from 'typebox'
import type { CampaignId, MessageId, SubscriptionId, UserId } from '../../../lib/ids.ts'
import { Exact, FreeForm, IdOf, Line, Nullable, OneOf } from '../../../lib/shapes.ts'
import { MESSAGE_STATES } from '../../messages/index.ts'
import { ATTACHMENTS_MAX, Content, MessageAttachment } from '../../templates/index.ts'
import { UserUpsert } from '../../users/index.ts'
import { Slug } from '../schema.ts'

const DATA_BYTES_MAX = 32_768
const KEY_LENGTH_MAX = 200
const EXPIRY_MAX_MIN = 43_200
const PATH_LENGTH_MAX = 1000
const PATHS_MAX = 20
const BATCH_MAX = 100
const HEADERS_MAX = 20
const HEADER_LENGTH_MAX = 998

export const Data = FreeForm(DATA_BYTES_MAX, { description: 'Data for the template, which reads it as `event.data`.' })

export const Key = (description: string) =>
  Type.String({ notBlank: true, minLength: 1, maxLength: KEY_LENGTH_MAX, format: 'identifier', description })

/** A message to send (D-MSG-2). */
export const MessageInput = Exact(
  {
    campaign: Type.Optional(Slug),
    campaign_id: Type.Optional(IdOf<CampaignId>({ description: 'The id of a running trigger campaign, instead of `campaign`.' })),
    content: Type.Optional(
      Type.Unsafe<Content>({
        ...Content,
        description:
          'The content, instead of a campaign: the members of a template for the channel of `subscription_id`, which may contain Liquid. Requires `subscription_id`.',
      }),
    ),
    subscription_id: Type.Optional(
      IdOf<SubscriptionId>({ description: 'The subscription type of a message with `content`. It decides the channel.' }),
    ),
    user: Type.Unsafe<UserUpsert>({
      ...UserUpsert,
      title: undefined,
      description: 'The recipient, by `external_id` or `anonymous_id`. The user is created or changed in the same way as by an event.',
    }),
    data: Type.Optional(Data),
    key: Type.Optional(
      Key('Repeating a request with the same key sends no second message. If the key was used for a different message, the reply is 409.'),
    ),
    send_at: Type.Optional(Line(40, { format: 'time', description: 'When to send the message. Default: immediately.' })),
    expires_after_minutes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: EXPIRY_MAX_MIN,
        description:
          'A message that was not sent this many minutes after `send_at` is skipped. By default the deadline of the campaign applies; with `content`, an hour for transactional subscription types and 72 hours for others.',
      }),
    ),
    locale: Type.Optional(
      Line(255, { format: 'locale', description: 'The locale of the template, as a BCP 47 tag. Default: the user’s locale.' }),
    ),
    redact: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: PATH_LENGTH_MAX }), {
        maxItems: PATHS_MAX,
        description:
          'Paths of values that only the provider gets, such as `data.link`. Everywhere else, these values are shown as `[redacted]`. Links in the message are not tracked.',
      }),
    ),
    attachments: Type.Optional(
      Type.Array(MessageAttachment, {
        maxItems: ATTACHMENTS_MAX,
        description:
          'Files to attach to an email, at most 10 MB in total. Together with the template’s files, they must not exceed the size that the provider accepts. They are deleted once the email has been sent.',
      }),
    ),
    headers: Type.Optional(
      Type.Unsafe<Record<string, string>>({
        type: 'object',
        maxProperties: HEADERS_MAX,
        additionalProperties: { type: 'string', minLength: 1, maxLength: HEADER_LENGTH_MAX, format: 'no-control' },
        description:
          'Further headers of an email: `References`, `In-Reply-To`, `Auto-Submitted`, `Precedence`, `List-Id`, `Feedback-ID`, `Importance`, and names that begin with `X-`, except those that providers read. Each may be named once, in any case. Amazon SES accepts 11 of them, of 870 characters each.',
      }),
    ),
  },
  {
    title: 'MessageInput',
    examples: [
      {
        campaign: 'password-reset',
        user: { external_id: 'ana', email: 'ana@example.com' },
        data: { link: 'https://app.example.com/reset/f81d4fae' },
        key: 'reset-7731',
        redact: ['data.link'],
      },
    ],
  },
)
export type MessageInput = Static<typeof MessageInput>

/** The envelope of a batch. Items are checked one by one. */
export const MessageBatch = Type.Array(MessageInput, { minItems: 1, maxItems: BATCH_MAX, itemwise: true })

/** A message that was accepted, or skipped at once. */
export const SentMessage = Exact(
  {
    id: IdOf<MessageId>({ description: 'The id of the message. Read it with getMessage.' }),
    state: OneOf(MESSAGE_STATES, {
      description: '`queued`, or `skipped` if it cannot be sent. For a repeated request, the current state.',
    }),
    reason: Nullable(Type.String({ description: 'Why the message is in this state, such as `suppressed` or `not_subscribed`.' })),
    detail: Nullable(Type.String({ description: 'More about the reason: for `suppressed`, the kind of suppression.' })),
    user: Exact({
      id: IdOf<UserId>(),
      external_id: Nullable(Type.String()),
      anonymous_id: Nullable(Type.String()),
    }),
    duplicate: Type.Boolean({
      description: 'Whether an earlier request with this `key` created the message, so that this request sent nothing.',
    }),
  },
  { title: 'SentMessage' },
)
export type SentMessage = Static<typeof SentMessage>

export const SentMessages = Exact(
  {
    results: Type.Array(
      Exact({
        index: Type.Integer({ description: 'Index in the request, from 0.' }),
        message: Type.Optional(SentMessage),
        error: Type.Optional(
          Exact(
            { code: Type.String({ description: 'The code of the error.' }), message: Type.String() },
            { description: 'Why nothing was sent for this item.' },
          ),
        ),
      }),
    ),
    succeeded: Type.Integer({ description: 'How many items have a message.' }),
    failed: Type.Integer({ description: 'How many items have an error.' }),
  },
  { title: 'SentMessages' },
)
export type SentMessages = Static<typeof SentMessages>
