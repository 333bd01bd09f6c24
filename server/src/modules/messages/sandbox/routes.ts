import { route } from '../../../infra/http/route.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { MessageId } from '../../../lib/ids.ts'
import { pathId } from '../../../lib/path-params.ts'
import { Page } from '../../../lib/shapes.ts'
import { checkSandboxMessage } from './check-sandbox-message.ts'
import { getSandboxMessage } from './get-sandbox-message.ts'
import { listSandboxMessages, type TaggedWith } from './list-sandbox-messages.ts'
import { deleteSandboxMessages, sandboxListing } from './queries.ts'
import { Release, ReleaseInput, SandboxMessage, SandboxMessageCheck, SandboxMessageWhole, SandboxQuery } from './schema.ts'

/** Sends a captured email to a member of the team. It is passed in, because members are not known to this module. */
export type ReleaseSandboxMessage = (ctx: ProjectCtx, id: MessageId, input: ReleaseInput) => Promise<Release>

type Verbs = { taggedWith: TaggedWith; release: ReleaseSandboxMessage }

export const sandboxRoutes = ({ taggedWith, release }: Verbs) => [
  route({
    method: 'GET',
    path: '/api/client/sandbox/messages',
    summary: 'List sandbox messages.',
    description: 'Newest first. `q` finds a substring of `recipient`, `summary` or `channel`.',
    access: { secret: 'support' },
    query: SandboxQuery,
    list: sandboxListing,
    reply: Page(SandboxMessage),
    run: (ctx, { page, query }) => listSandboxMessages(ctx, page, query, taggedWith),
  }),
  route({
    method: 'GET',
    path: '/api/client/sandbox/messages/{messageId}',
    summary: 'Read a sandbox message with its content.',
    description: '`content` is what a provider would have received.',
    access: { secret: 'support' },
    params: { messageId: pathId<MessageId>() },
    reply: SandboxMessageWhole,
    run: (ctx, { params }) => getSandboxMessage(ctx, params.messageId),
  }),
  route({
    method: 'GET',
    path: '/api/client/sandbox/messages/{messageId}/check',
    summary: 'Check a sandbox message for problems.',
    description: 'Runs the template lints, and classifies each link. The links are not opened.',
    access: { secret: 'support' },
    params: { messageId: pathId<MessageId>() },
    reply: SandboxMessageCheck,
    run: (ctx, { params }) => checkSandboxMessage(ctx, params.messageId),
  }),
  route({
    method: 'POST',
    path: '/api/client/sandbox/messages/{messageId}/release',
    summary: 'Send a sandbox email to a member of the team.',
    description:
      'A copy goes through the relay of this server, `SYSTEM_SMTP_URL`, to a member who has joined and has a role in the project. Its sender is `SYSTEM_MAIL_FROM`; subject, content and attachments are unchanged. Its links are those of the original recipient: opens, clicks and choices are recorded for that user.',
    access: { secret: 'editor' },
    audit: { none: 'the verb records it once the relay has answered' },
    bucket: 'egress',
    records: 'around_call',
    params: { messageId: pathId<MessageId>() },
    body: ReleaseInput,
    reply: Release,
    run: (ctx, { params, body }) => release(ctx, params.messageId, body),
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
