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
      'Days are in UTC. An event is counted on the day of its `created_at`. Days that are only partly between `since` and `until` are counted in full. The period can have at most 366 days; the default is the last 30 days. Events of users who were erased are included.',
    access: { secret: 'support' },
    query: wanted,
    reply: EventStats,
    run: (ctx, { query }) => readStats(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/api/client/schema/events',
    summary: 'List event names with their attributes.',
    description: 'Counts are up to date. Attributes are those of the latest events of each name.',
    access: { secret: 'support' },
    list: nameListing,
    reply: Page(EventType),
    run: (ctx, { page }) => listEventTypes(ctx, page),
  }),
  route({
    method: 'GET',
    path: '/api/client/users/{userId}/events',
    summary: 'List the events of a user, latest first.',
    description: 'Includes the events of users who were merged into this one. The period includes `since` and excludes `until`.',
    access: { secret: 'support' },
    params: { userId: pathUser },
    query: wanted,
    list: timelineListing,
    reply: Page(TimelineItem),
    run: (ctx, { params, query, page }) => listTimeline(ctx, params.userId, query, page),
  }),
]
