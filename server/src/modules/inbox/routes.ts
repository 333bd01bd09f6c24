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
import { AllRead, From, InboxMessage, ReadStateChanges, StatusFilter, UnreadCount } from './schema.ts'

const OWN = '/api/client/users/me/messages'

/** Functions of `messages` that change an inbox and also record the engagement. */
type Verbs = {
  updateReadState(ctx: ProjectCtx, userId: UserId, id: MessageId, changes: ReadStateChanges): Promise<InboxMessage>
  readAll(ctx: ProjectCtx, userId: UserId): Promise<AllRead>
}

/** The routes of the inbox. `streams` are the open streams of this process. */
export const inboxRoutes = (streams: InboxStreams, { updateReadState, readAll }: Verbs) => [
  route({
    method: 'GET',
    path: OWN,
    summary: 'List the inbox messages of the signed-in user.',
    description: 'Newest first, without expired messages. `q` finds a substring of `title` or `body`.',
    access: { publishable: 'user' },
    query: StatusFilter,
    list: inboxListing,
    reply: Page(InboxMessage),
    run: (ctx, { query, page }) => listMessages(ctx, ctx.caller.userId, query.status, page),
  }),
  route({
    method: 'GET',
    path: `${OWN}/unread-count`,
    summary: 'Count the unread inbox messages of the signed-in user.',
    description: 'Expired and archived messages are not counted.',
    access: { publishable: 'user' },
    reply: UnreadCount,
    run: async (ctx) => ({ unread: await countUnread(ctx, ctx.caller.userId) }),
  }),
  route({
    method: 'GET',
    path: `${OWN}/stream`,
    summary: 'Stream the inbox changes of the signed-in user.',
    description:
      'Sends server-sent events from now on or, with `Last-Event-ID`, from after that event. `unread` has the number of unread messages and is sent at the start and after each change. `message` has a message that is new or has changed. `expired` is the last event, sent when the user token is no longer valid. A user may have 5 streams open.',
    access: { publishable: 'user' },
    query: From,
    reply: LiveOf(
      'Each event has an `id`, a name in `event`, and JSON in `data`. A comment every 20 seconds shows that the connection is alive.',
    ),
    run: async (ctx, { query, live }) => ({
      events: listen(ctx, streams, ctx.caller.userId, startOf(live.lastEventId, query.last_event_id), live),
    }),
  }),
  route({
    method: 'POST',
    path: `${OWN}/read-all`,
    summary: 'Mark all unread inbox messages of the signed-in user as read.',
    description: 'Archived messages do not change.',
    access: { publishable: 'user' },
    audit: { none: 'the user reads messages' },
    reply: AllRead,
    run: async (ctx) => {
      const result = await readAll(ctx, ctx.caller.userId)
      streams.wake()
      return result
    },
  }),
  route({
    method: 'PATCH',
    path: `${OWN}/{messageId}`,
    summary: 'Mark an inbox message of the signed-in user as seen, read, clicked or archived.',
    description: 'Members that are left out do not change. `seen_at` and `clicked_at` keep the time of the first action.',
    access: { publishable: 'user' },
    audit: { none: 'the user reads messages' },
    params: { messageId: pathId<MessageId>() },
    body: ReadStateChanges,
    reply: InboxMessage,
    run: async (ctx, { params, body }) => {
      const message = await updateReadState(ctx, ctx.caller.userId, params.messageId, body)
      streams.wake()
      return message
    },
  }),
  route({
    method: 'GET',
    path: '/api/client/users/{userId}/messages',
    summary: 'List the inbox messages of a user.',
    description: 'Newest first, without expired messages, as the user sees them. `q` finds a substring of `title` or `body`.',
    access: { secret: 'support' },
    params: { userId: pathUser },
    query: StatusFilter,
    list: inboxListing,
    reply: Page(InboxMessage),
    run: async (ctx, { params, query, page }) => listMessages(ctx, (await requireUser(ctx, params.userId)).id, query.status, page),
  }),
]

/** The header takes precedence: a client that reconnects sends it, and calls the URL with the old parameter. Throws 400. */
function startOf(header: string | undefined, parameter: string | undefined): number | undefined {
  if (header === undefined) return parameter === undefined ? undefined : Number(parameter)
  if (/^\d{1,15}$/.test(header)) return Number(header)
  throw fault('parameter_invalid_format', 'Last-Event-ID', 'The header `Last-Event-ID` must be the `id` of an event.')
}
