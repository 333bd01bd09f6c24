import { mapPage } from '../../infra/http/paging.ts'
import { route } from '../../infra/http/route.ts'
import { Page } from '../../lib/shapes.ts'
import { listRequests, requestListing } from './queries.ts'
import { LoggedRequest, RequestQuery, type RequestRow } from './schema.ts'

const present = ({ actor_type, actor_id, actor_name, ...row }: RequestRow): LoggedRequest => ({
  ...row,
  actor: { type: actor_type, id: actor_id, name: actor_name },
})

export const apiLogRoutes = [
  route({
    method: 'GET',
    path: '/api/client/requests',
    summary: 'List the last requests of the project, newest first.',
    description:
      'The API log keeps the latest `API_LOG_MAX` requests of each project for `API_LOG_RETENTION_DAYS` days. A request appears about a second after its reply. Each second, a server process keeps the first 20 requests of a project that succeed and the first 20 that fail; `left_out` counts the others. Reads by the console and requests without a valid key of the project are not logged.\n\nHeaders, replies and error messages are not kept. A value in the path, query or body is kept only if this API description limits it to a fixed set of values, a boolean, a number, a time, an id of this server, or the name of an event. For everything else, such as text, addresses, attributes and event data, only the type and size are kept: `[text, 12 characters]`.',
    access: { secret: 'admin' },
    query: RequestQuery,
    list: requestListing,
    reply: Page(LoggedRequest),
    run: async (ctx, { page, query }) => mapPage(await listRequests(ctx, page, query), present),
  }),
]
