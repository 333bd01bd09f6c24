import { type Static, Type } from 'typebox'
import type { CampaignId, MessageId, ProjectId, UserId } from '../../lib/ids.ts'
import { Changes, Exact, IdOf, Instant, Nullable, OneOf, Timestamp } from '../../lib/shapes.ts'

const said = {
  type: Type.String({ description: '`banner`, `modal` or `inbox`.' }),
  title: Type.String(),
  body: Type.String(),
  html: Nullable(Type.String()),
  image: Nullable(Type.String()),
  action_url: Nullable(Type.String()),
}

/** A message as its reader sees it. */
export const InboxMessage = Exact({
  id: IdOf<MessageId>(),
  campaign_id: IdOf<CampaignId>(),
  ...said,
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
  ...said,
  created_at: Instant,
  expires_at: Nullable(Instant),
  seen_at: Nullable(Instant),
  read_at: Nullable(Instant),
  clicked_at: Nullable(Instant),
  archived_at: Nullable(Instant),
})

/** What the reader did with it, and when. */
export type Marks = Pick<InboxMessage, 'seen_at' | 'read_at' | 'clicked_at' | 'archived_at'>

/** Something that happened and cannot be taken back. */
const Done = (description: string) => Type.Unsafe<true>({ type: 'boolean', enum: [true], description })

export const MarkChanges = Changes({
  seen: Done('It was shown.'),
  read: Type.Boolean({ description: 'True says that it was seen, too. False makes it unread again.' }),
  clicked: Done('Its action was taken: it was read, too, unless `read` is false.'),
  archived: Type.Boolean(),
})
export type MarkChanges = Static<typeof MarkChanges>

export const STATUSES = ['unread', 'read', 'archived', 'all'] as const
export type Status = (typeof STATUSES)[number]

export const StatusFilter = Exact({
  status: Type.Optional(OneOf(STATUSES, { description: 'Which messages; unless given, those that are not archived.' })),
})

const unread = Type.Integer({ minimum: 0, description: 'Messages that are neither read, archived nor expired.' })

export const UnreadCount = Exact({ unread })

export const AllRead = Exact({ changed: Type.Integer({ description: 'Messages that were unread until now.' }), unread })

/** Where to go on from, for those who cannot send the header. */
export type AllRead = Static<typeof AllRead>

export const From = Exact({
  last_event_id: Type.Optional(
    Type.String({
      pattern: '^\\d{1,15}$',
      problem: 'must be the `id` of an event',
      description: 'The `id` of the last event received; the header `Last-Event-ID` is preferred. 0 asks for everything.',
    }),
  ),
})

/** A message on its way into somebody's inbox. `content` is what the channel composed. */
export type InboxContent = { id: MessageId; user_id: UserId; campaign_id: CampaignId; content: Record<string, unknown> }

/** What a reader did, for the first time. */
export type InboxEngagement = { user_id: UserId; message_id: MessageId; what: 'opened' | 'clicked'; at: Date }

/** Whose inbox, and the number up to which it is known. */
export type StreamPosition = { projectId: ProjectId; userId: UserId; position: number }
