import { route } from '../../../infra/http/route.ts'
import { ATTACHMENT_BODY_BYTES_MAX } from '../../templates/index.ts'
import { MessageBatch, MessageInput, SentMessage, SentMessages } from './schema.ts'
import { type OnUsersSaved, sendMessage, sendMessages } from './service.ts'

const location = ({ id }: SentMessage) => `/api/client/messages/${id}`

export const directRoutes = (onUsersSaved: OnUsersSaved) => [
  route({
    method: 'POST',
    path: '/api/client/messages',
    summary: 'Send a message to a user.',
    description:
      'Sends a running trigger campaign, or the `content` of the request. The user is created or changed first. The reply says at once whether the message is `queued` or `skipped`, and why; getMessage has its later states. Consent, suppressions, quiet hours and caps apply as they do to campaigns: messages of transactional subscription types are sent regardless of consent, at any hour.',
    access: { secret: 'publisher', smtpproxy: true },
    audit: { none: 'a message is not configuration' },
    body: MessageInput,
    bodyBytesMax: ATTACHMENT_BODY_BYTES_MAX,
    reply: SentMessage,
    status: 202,
    location,
    errors: ['resource_missing', 'idempotency_key_mismatch', 'validation_failed'],
    run: (ctx, { body }) => sendMessage(ctx, onUsersSaved, body),
  }),
  route({
    method: 'POST',
    path: '/api/client/messages/batch',
    summary: 'Send up to 100 messages.',
    description: 'Each item is a body of createMessage and has its own result: an invalid item does not stop the others.',
    access: { secret: 'publisher', smtpproxy: true },
    audit: { none: 'messages are not configuration' },
    body: MessageBatch,
    bodyBytesMax: ATTACHMENT_BODY_BYTES_MAX,
    reply: SentMessages,
    run: (ctx, { body }) => sendMessages(ctx, onUsersSaved, body),
  }),
]
