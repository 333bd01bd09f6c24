import { Type } from 'typebox'
import { route } from '../../infra/http/route.ts'
import { pathUser } from '../../lib/path-params.ts'
import { Exact, Page } from '../../lib/shapes.ts'
import { EventType, listEventTypes } from './catalogue.ts'
import { eventName, range } from './range.ts'
import { nameListing, timelineListing } from './reading.queries.ts'
import { EventStats, readStats } from './stats.ts'
import { listTimeline, TimelineItem } from './timeline.ts'

const wanted = Exact({ name: Type.Optional(eventName), ...range })

export const eventRoutes = [
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
