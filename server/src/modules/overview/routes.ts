import { LiveOf, route } from '../../infra/http/route.ts'
import { pathUser } from '../../lib/path-params.ts'
import { Page } from '../../lib/shapes.ts'
import { timelineListing } from '../events/index.ts'
import { getOverview } from './home.ts'
import { listen, topicsInWords, topicsOf } from './live/listen.ts'
import { reachabilityOf } from './reachability.ts'
import { MessageReport, ReportQuery, readReport } from './report.ts'
import { Overview, Reachability, SearchQuery, SearchResults, StreamQuery, UserTimelineItem } from './schema.ts'
import { searchByName } from './search.ts'
import { readUserTimeline } from './timeline.ts'

const params = { userId: pathUser }

export const overviewRoutes = [
  route({
    method: 'GET',
    path: '/api/client/overview',
    summary: 'Read the state of the project at a glance.',
    description:
      'The reply has the current problems and what to do about them, the sends in progress, whether accepted events are waiting, and the messages of the last seven days by channel, compared with the seven days before. The data is at most five seconds old.',
    access: { secret: 'support' },
    reply: Overview,
    run: (ctx) => getOverview(ctx),
  }),
  route({
    method: 'GET',
    path: '/api/client/reports/messages',
    summary: 'Report message results by day, channel, campaign and journey.',
    description:
      'A message is counted on the day (UTC) when it was created, with everything that has happened to it since, so each rate refers to one set of messages. The same number of preceding days is included for comparison. Days that are only partly between `since` and `until` are counted in full. The period can have at most 366 days; the default is the last 30 days. Numbers are exact, and include messages that were deleted because of their age.',
    access: { secret: 'support' },
    query: ReportQuery,
    reply: MessageReport,
    run: (ctx, { query }) => readReport(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/api/client/stream',
    summary: 'Stream changes in the project.',
    description: `Sends the state of each topic in \`topics\` as a server-sent event, at the start and after each change. The server checks for changes every second. ${topicsInWords} If the key or the session is no longer permitted, the stream ends with the event \`expired\`. A key or a member may have at most 20 streams open.`,
    access: { secret: 'support' },
    query: StreamQuery,
    reply: LiveOf(
      'Each event has an `id`, the kind of topic in `event`, and in `data` JSON with `topic` and `state`; null if the object does not exist. A comment every 20 seconds shows that the connection is alive.',
    ),
    errors: ['rate_limited'],
    run: async (ctx, { query, live }) => ({ events: listen(ctx, topicsOf(query.topics), live) }),
  }),
  route({
    method: 'GET',
    path: '/api/client/search',
    summary: 'Find users, campaigns, journeys, lists, webhook endpoints and domains by name.',
    description:
      'Returns at most five matches of each kind. The text is matched in the same way as `q` in the list of that kind. Users are found by their ids and addresses.',
    access: { secret: 'support' },
    query: SearchQuery,
    reply: SearchResults,
    run: (ctx, { query }) => searchByName(ctx, query.q),
  }),
  route({
    method: 'GET',
    path: '/api/client/users/{userId}/reachability',
    summary: 'Show which channels reach a user, and why the others do not.',
    description: 'The reason is the first that applies: the address, then a suppression, then the subscriptions.',
    access: { secret: 'support' },
    params,
    reply: Reachability,
    run: (ctx, { params }) => reachabilityOf(ctx, params.userId),
  }),
  route({
    method: 'GET',
    path: '/api/client/users/{userId}/timeline',
    summary: 'List the timeline of a user, latest first.',
    description:
      'Events, messages, changes of subscriptions and lists, and journeys, in one stream. `q` finds part of an event name. A page can have more items than `limit`, because journeys of the same period are added.',
    access: { secret: 'support' },
    params,
    list: timelineListing,
    reply: Page(UserTimelineItem),
    run: (ctx, { params, page }) => readUserTimeline(ctx, params.userId, page),
  }),
]
