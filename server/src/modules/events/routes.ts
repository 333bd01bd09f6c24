import { Type } from 'typebox'
import { route } from '../../infra/route.ts'
import type { Appender } from '../../infra/stream.ts'
import { pathUser } from '../../lib/path-params.ts'
import { Exact, Page } from '../../lib/shapes.ts'
import { EventType, listEventTypes } from './catalogue.ts'
import { eventName, range } from './range.ts'
import { nameListing, timelineListing } from './reading/queries.ts'
import { EventBatch } from './schema.ts'
import { acceptEvents } from './service.ts'
import { EventStats, readStats } from './stats.ts'
import { listTimeline, TimelineItem } from './timeline.ts'

const wanted = Exact({ name: Type.Optional(eventName), ...range })

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
  route({
    method: 'GET',
    path: '/api/client/events/stats',
    summary: 'Count events by name and day.',
    description:
      'Days are in UTC, and an event counts on the day when it happened, however late it came. A day counts as a whole when it has a part between `since` and `until`; at most 366 days, unless given the last 30. Users that were erased since are counted.',
    access: { secret: 'support' },
    query: wanted,
    reply: EventStats,
    run: (ctx, { query }) => readStats(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/api/client/schema/events',
    summary: 'List the names of events with what they carry.',
    description: 'Counts are of this moment. Attributes are those of the latest events of each name.',
    access: { secret: 'support' },
    list: nameListing,
    reply: Page(EventType),
    run: (ctx, { page }) => listEventTypes(ctx, page),
  }),
  route({
    method: 'GET',
    path: '/api/client/users/{userId}/events',
    summary: 'List the events of a user, latest first.',
    description: 'With the events of users that were merged into this one. `since` is included, `until` is not.',
    access: { secret: 'support' },
    params: { userId: pathUser },
    query: wanted,
    list: timelineListing,
    reply: Page(TimelineItem),
    run: (ctx, { params, query, page }) => listTimeline(ctx, params.userId, query, page),
  }),
]
