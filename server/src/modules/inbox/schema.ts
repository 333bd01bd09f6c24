import { type Static, Type } from 'typebox'
import type { CampaignId, MessageId, ProjectId, UserId } from '../../lib/ids.ts'
import { Changes, Exact, IdOf, Instant, Nullable, OneOf, Timestamp } from '../../lib/shapes.ts'

const content = {
  type: Type.String({ description: '`banner`, `modal` or `inbox`.' }),
  title: Type.String(),
  body: Type.String(),
  html: Nullable(Type.String()),
  image: Nullable(Type.String()),
  action_url: Nullable(Type.String()),
}

/** An inbox message as its user sees it. */
export const InboxMessage = Exact({
  id: IdOf<MessageId>(),
  campaign_id: IdOf<CampaignId>(),
  ...content,
  created_at: Timestamp,
  expires_at: Nullable(Timestamp),
  seen_at: Nullable(Timestamp),
  read_at: Nullable(Timestamp),
  clicked_at: Nullable(Timestamp),
  archived_at: Nullable(Timestamp),
})
export type InboxMessage = Static<typeof InboxMessage>

export const InboxRow = Type.Object({
  id: IdOf<MessageId>(),
  campaign_id: IdOf<CampaignId>(),
  ...content,
  created_at: Instant,
  expires_at: Nullable(Instant),
  seen_at: Nullable(Instant),
  read_at: Nullable(Instant),
  clicked_at: Nullable(Instant),
  archived_at: Nullable(Instant),
})

/** What the user did with the message, and when. */
export type ReadState = Pick<InboxMessage, 'seen_at' | 'read_at' | 'clicked_at' | 'archived_at'>

/** An action that cannot be undone. */
const Done = (description: string) => Type.Unsafe<true>({ type: 'boolean', enum: [true], description })

export const ReadStateChanges = Changes({
  seen: Done('The message was shown.'),
  read: Type.Boolean({ description: 'True marks the message as read and seen. False makes it unread again.' }),
  clicked: Done('The action of the message was used. Marks it as read too, unless `read` is false.'),
  archived: Type.Boolean(),
})
export type ReadStateChanges = Static<typeof ReadStateChanges>

export const STATUSES = ['unread', 'read', 'archived', 'all'] as const
export type Status = (typeof STATUSES)[number]

export const StatusFilter = Exact({
  status: Type.Optional(OneOf(STATUSES, { description: 'Which messages to list. By default those that are not archived.' })),
})

const unread = Type.Integer({ minimum: 0, description: 'The number of messages that are neither read, archived nor expired.' })

export const UnreadCount = Exact({ unread })

export const AllRead = Exact({ changed: Type.Integer({ description: 'The number of messages that were unread before.' }), unread })
export type AllRead = Static<typeof AllRead>

/** Where to continue, for clients that cannot set the header. */
export const From = Exact({
  last_event_id: Type.Optional(
    Type.String({
      pattern: '^\\d{1,15}$',
      problem: 'must be the `id` of an event',
      description: 'The `id` of the last event received. The header `Last-Event-ID` takes precedence. 0 sends all messages.',
    }),
  ),
})

/** A message to put into an inbox. `content` is what the channel composed. */
export type InboxContent = { id: MessageId; user_id: UserId; campaign_id: CampaignId; content: Record<string, unknown> }

/** What a user did with a message for the first time. */
export type InboxEngagement = { user_id: UserId; message_id: MessageId; what: 'opened' | 'clicked'; at: Date }

/** The inbox of a user, and the number of the last change that a stream has sent. */
export type StreamPosition = { projectId: ProjectId; userId: UserId; position: number }
