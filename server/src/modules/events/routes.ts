import { route } from '../../infra/route.ts'
import type { Appender } from '../../infra/stream.ts'
import { EventBatch } from './schema.ts'
import { acceptEvents } from './service.ts'

/** `appender` is the log that accepted requests go to. */
export const eventRoutes = (appender: Appender) => [
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
]
