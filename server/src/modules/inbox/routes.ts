import { LiveOf, route } from '../../infra/http/route.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { fault } from '../../lib/errors.ts'
import type { MessageId, UserId } from '../../lib/ids.ts'
import { pathId, pathUser } from '../../lib/path-params.ts'
import { Page } from '../../lib/shapes.ts'
import { requireUser } from '../users/index.ts'
import { listen } from './live/listen.ts'
import type { InboxStreams } from './live/streams.ts'
import { countUnread, inboxListing, listMessages } from './queries.ts'
import { AllRead, From, InboxMessage, MarkChanges, StatusFilter, UnreadCount } from './schema.ts'

const OWN = '/api/client/users/me/messages'

/** Verbs of messages: they also record what the user does as engagement. */
type Verbs = {
  markMessage(ctx: ProjectCtx, userId: UserId, id: MessageId, changes: MarkChanges): Promise<InboxMessage>
  readAll(ctx: ProjectCtx, userId: UserId): Promise<AllRead>
}

/** `listening` holds the open streams of this process. */
export const inboxRoutes = (listening: InboxStreams, { markMessage, readAll }: Verbs) => [
  route({
    method: 'GET',
    path: OWN,
    summary: 'List the messages in the inbox of the user of the session token.',
    description: 'Newest first. Messages that have expired are not in it. `q` finds a substring of `title` or `body`.',
    access: { publishable: 'user' },
    query: StatusFilter,
    list: inboxListing,
    reply: Page(InboxMessage),
    run: (ctx, { query, page }) => listMessages(ctx, ctx.caller.userId, query.status, page),
  }),
  route({
    method: 'GET',
    path: `${OWN}/unread-count`,
    summary: 'Count the unread messages of the user of the session token.',
    access: { publishable: 'user' },
    reply: UnreadCount,
    run: async (ctx) => ({ unread: await countUnread(ctx, ctx.caller.userId) }),
  }),
  route({
    method: 'GET',
    path: `${OWN}/stream`,
    summary: 'Listen to the inbox of the user of the session token.',
    description:
      'Server-Sent Events, from now on or beyond the event that `Last-Event-ID` names: `unread` with how many messages are unread, at the beginning and whenever that changes; `message` with a message that is new or has changed; `expired` when the user token has, which is the last event. At most 5 streams for each user.',
    access: { publishable: 'user' },
    query: From,
    reply: LiveOf('Each event has an `id`, a name in `event`, and JSON in `data`. A comment every 20 seconds says that the stream stands.'),
    run: async (ctx, { query, live }) => ({
      events: listen(ctx, listening, ctx.caller.userId, startOf(live.lastEventId, query.last_event_id), live),
    }),
  }),
  route({
    method: 'POST',
    path: `${OWN}/read-all`,
    summary: 'Mark every unread message of the user of the session token as read.',
    description: 'Archived messages are left as they are.',
    access: { publishable: 'user' },
    reply: AllRead,
    run: async (ctx) => {
      const result = await readAll(ctx, ctx.caller.userId)
      listening.wake()
      return result
    },
  }),
  route({
    method: 'PATCH',
    path: `${OWN}/{messageId}`,
    summary: 'Mark a message of the user of the session token as seen, read, clicked or archived.',
    description: 'Only the members given change anything. What was done once stays: `seen_at` and `clicked_at` are of the first time.',
    access: { publishable: 'user' },
    params: { messageId: pathId<MessageId>() },
    body: MarkChanges,
    reply: InboxMessage,
    run: async (ctx, { params, body }) => {
      const message = await markMessage(ctx, ctx.caller.userId, params.messageId, body)
      listening.wake()
      return message
    },
  }),
  route({
    method: 'GET',
    path: '/api/client/users/{userId}/messages',
    summary: 'List the messages in the inbox of a user.',
    description: 'As the user sees it: newest first, without messages that have expired. `q` finds a substring of `title` or `body`.',
    access: { secret: 'support' },
    params: { userId: pathUser },
    query: StatusFilter,
    list: inboxListing,
    reply: Page(InboxMessage),
    run: async (ctx, { params, query, page }) => listMessages(ctx, (await requireUser(ctx, params.userId)).id, query.status, page),
  }),
]

/** The header comes from a client that lost its connection and knows better than the address it calls again. Throws 400. */
function startOf(header: string | undefined, parameter: string | undefined): number | undefined {
  if (header === undefined) return parameter === undefined ? undefined : Number(parameter)
  if (/^\d{1,15}$/.test(header)) return Number(header)
  throw fault('parameter_invalid_format', 'Last-Event-ID', 'The header `Last-Event-ID` must be the `id` of an event.')
}
