import { route } from '../../infra/http/route.ts'
import type { Appender } from '../../infra/queue/append.ts'
import { UserBatch } from '../users/index.ts'
import { EventBatch } from './schema.ts'
import { acceptEvents, acceptUserUpdates } from './service.ts'

/** Requests that get a reply as soon as they are in the ingest queue. `appender` writes to it. */
export const ingestRoutes = (appender: Appender) => [
  route({
    method: 'POST',
    path: '/api/client/events',
    summary: 'Record up to 100 behavioural events.',
    description:
      'The array is accepted or refused as a whole. 204 means that it is stored durably. A publishable key can send anonymous events or, with a user token, events of the signed-in user. The publishable keys of a project can introduce a limited number of new event names, keys of `data` and user attributes each day.',
    access: { secret: 'editor', publishable: 'anonymous' },
    audit: { none: 'events are not configuration' },
    body: EventBatch,
    status: 204,
    records: 'with_append',
    essential: true,
    run: (ctx, { body, ...request }) => acceptEvents(ctx, appender, body, request),
  }),
  route({
    method: 'PATCH',
    path: '/api/client/users',
    summary: 'Queue up to 100 user upserts.',
    description:
      'The array is accepted or refused as a whole. 204 means that it is stored durably. Updates are applied in order, usually within a second.',
    access: { secret: 'editor' },
    audit: { none: 'users are not configuration' },
    body: UserBatch,
    status: 204,
    records: 'with_append',
    essential: true,
    run: (ctx, { body, ...request }) => acceptUserUpdates(ctx, appender, body, request),
  }),
]
