import { route } from '../../infra/http/route.ts'
import type { Appender } from '../../infra/queue/queue.ts'
import { UserBatch } from '../users/index.ts'
import { EventBatch } from './schema.ts'
import { acceptEvents, acceptUserUpdates } from './service.ts'

/** Requests that are answered once they stand in the ingest queue. `appender` writes to it. */
export const ingestRoutes = (appender: Appender) => [
  route({
    method: 'POST',
    path: '/api/client/events',
    summary: 'Record up to 100 behavioural events.',
    description:
      'The whole array is checked before it is accepted; 204 means that it is stored durably. A publishable key may send anonymous events, or, with a user token, events of that user.',
    access: { secret: 'editor', publishable: 'anonymous' },
    body: EventBatch,
    status: 204,
    run: (ctx, { body, raw, requestId }) => acceptEvents(ctx, appender, body, raw, requestId),
  }),
  route({
    method: 'PATCH',
    path: '/api/client/users',
    summary: 'Queue up to 100 user upserts.',
    description:
      'The whole array is checked before it is accepted; 204 means that it is stored durably and will be applied in order, usually within a second.',
    access: { secret: 'editor' },
    body: UserBatch,
    status: 204,
    run: (ctx, { body, raw, requestId }) => acceptUserUpdates(ctx, appender, body, raw, requestId),
  }),
]
