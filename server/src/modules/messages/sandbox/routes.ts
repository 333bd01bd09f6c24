import { route } from '../../../infra/http/route.ts'
import type { MessageId } from '../../../lib/ids.ts'
import { pathId } from '../../../lib/path-params.ts'
import { Page } from '../../../lib/shapes.ts'
import { checkSandboxMessage } from './check-sandbox-message.ts'
import { getSandboxMessage } from './get-sandbox-message.ts'
import { deleteSandboxMessages, listSandboxMessages, sandboxListing } from './queries.ts'
import { SandboxMessage, SandboxMessageCheck, SandboxMessageWhole, SandboxQuery } from './schema.ts'

export const sandboxRoutes = [
  route({
    method: 'GET',
    path: '/api/client/sandbox/messages',
    summary: 'List sandbox messages.',
    description: 'Newest first. `q` finds a substring of `recipient`, `summary` or `channel`.',
    access: { secret: 'support' },
    query: SandboxQuery,
    list: sandboxListing,
    reply: Page(SandboxMessage),
    run: (ctx, { page, query }) => listSandboxMessages(ctx, page, query),
  }),
  route({
    method: 'GET',
    path: '/api/client/sandbox/messages/{messageId}',
    summary: 'Read a sandbox message with its content.',
    description: '`content` is what a provider would have got.',
    access: { secret: 'support' },
    params: { messageId: pathId<MessageId>() },
    reply: SandboxMessageWhole,
    run: (ctx, { params }) => getSandboxMessage(ctx, params.messageId),
  }),
  route({
    method: 'GET',
    path: '/api/client/sandbox/messages/{messageId}/check',
    summary: 'Check a sandbox message for problems.',
    description: 'Finds the problems that lints find in templates, and says what each link is. No request is made to any link.',
    access: { secret: 'support' },
    params: { messageId: pathId<MessageId>() },
    reply: SandboxMessageCheck,
    run: (ctx, { params }) => checkSandboxMessage(ctx, params.messageId),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/sandbox/messages',
    summary: 'Delete all sandbox messages.',
    description: 'The messages keep their states in the reports of their campaigns.',
    access: { secret: 'editor' },
    audit: { none: 'sandbox messages are not configuration' },
    status: 204,
    run: async (ctx) => {
      await deleteSandboxMessages(ctx)
    },
  }),
]
