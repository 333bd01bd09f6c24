import { route } from '../../../infra/http/route.ts'
import type { MessageId } from '../../../lib/ids.ts'
import { pathId } from '../../../lib/path-params.ts'
import { Page } from '../../../lib/shapes.ts'
import { getCapture } from './get-sandbox-message.ts'
import { deleteCaptures, listCaptures, sandboxListing } from './queries.ts'
import { SandboxMessage, SandboxMessageWhole } from './schema.ts'

export const sandboxRoutes = [
  route({
    method: 'GET',
    path: '/api/client/sandbox/messages',
    summary: 'List the messages that the sandbox captured.',
    description: 'Newest first. `q` finds a substring of `recipient`, `summary` or `channel`.',
    access: { secret: 'support' },
    list: sandboxListing,
    reply: Page(SandboxMessage),
    run: (ctx, { page }) => listCaptures(ctx, page),
  }),
  route({
    method: 'GET',
    path: '/api/client/sandbox/messages/{messageId}',
    summary: 'Read a captured message with everything it says.',
    access: { secret: 'support' },
    params: { messageId: pathId<MessageId>() },
    reply: SandboxMessageWhole,
    run: (ctx, { params }) => getCapture(ctx, params.messageId),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/sandbox/messages',
    summary: 'Empty the sandbox inbox.',
    description: 'Every captured message of the project is deleted; what became of the messages stays known.',
    access: { secret: 'editor' },
    status: 204,
    run: async (ctx) => {
      await deleteCaptures(ctx)
    },
  }),
]
