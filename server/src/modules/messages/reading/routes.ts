import { route } from '../../../infra/http/route.ts'
import type { MessageId } from '../../../lib/ids.ts'
import { pathId } from '../../../lib/path-params.ts'
import { Page } from '../../../lib/shapes.ts'
import type { FindSendingCampaigns } from '../sending/find-sending-campaigns.ts'
import { messageListing } from './queries.ts'
import { MessageQuery, MessageSummary, MessageWhole } from './schema.ts'
import { getMessage, listMessages } from './service.ts'

export const readingRoutes = (findSendingCampaigns: FindSendingCampaigns) => [
  route({
    method: 'GET',
    path: '/api/client/messages',
    summary: 'List messages, newest first.',
    description:
      'Messages of campaigns, journeys and requests, including skipped ones. `q` finds a substring of `recipient` or `reason`. A key with the role `smtpproxy` sees the messages that it sent.',
    access: { secret: 'support', smtpproxy: true },
    query: MessageQuery,
    list: messageListing,
    reply: Page(MessageSummary),
    run: (ctx, { page, query }) => listMessages(ctx, page, query),
  }),
  route({
    method: 'GET',
    path: '/api/client/messages/{messageId}',
    summary: 'Read a message: its state, content and timeline.',
    description: 'The id is the `message_id` of webhook events and of other replies. A test send is not stored, so it has no id.',
    access: { secret: 'support', smtpproxy: true },
    params: { messageId: pathId<MessageId>() },
    reply: MessageWhole,
    run: (ctx, { params }) => getMessage(ctx, findSendingCampaigns, params.messageId),
  }),
]
