import { route } from '../../../infra/http/route.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import { pathId, pathUser } from '../../../lib/path-params.ts'
import { Page } from '../../../lib/shapes.ts'
import { insideListing } from '../../positions/index.ts'
import { explainEntry } from './entry-checks.ts'
import { EntryExplanation, JourneysOfUser, JourneyUser, Statistics, Timeline, UsersQuery } from './schema.ts'
import { getStatistics } from './statistics.ts'
import { getTimeline } from './timeline.ts'
import { journeysOf, listUsers } from './users.ts'

const params = { journeyId: pathId<JourneyId>() }

/** Endpoints that show what happens in a journey. */
export const insightRoutes = [
  route({
    method: 'GET',
    path: '/api/client/journeys/{journeyId}/stats',
    summary: 'Read the statistics of a journey.',
    description: 'Users are counted as they move, so the numbers are up to date. The numbers of steps are sums over all versions.',
    access: { secret: 'support' },
    params,
    reply: Statistics,
    run: (ctx, { params }) => getStatistics(ctx, params.journeyId),
  }),
  route({
    method: 'GET',
    path: '/api/client/journeys/{journeyId}/users',
    summary: 'List the users of a journey.',
    description: 'Users inside are listed once for each entrance. After changing `state`, start again without a cursor.',
    access: { secret: 'support' },
    params,
    query: UsersQuery,
    list: insideListing,
    reply: Page(JourneyUser),
    errors: ['validation_failed'],
    run: (ctx, { params, query, page }) => listUsers(ctx, params.journeyId, query, page),
  }),
  route({
    method: 'GET',
    path: '/api/client/journeys/{journeyId}/users/{userId}',
    summary: 'Show what happened to a user in a journey.',
    description: 'The reply has every decision with its reason, as a code and as a sentence. For a user who never entered, there are none.',
    access: { secret: 'support' },
    params: { ...params, userId: pathUser },
    reply: Timeline,
    run: (ctx, { params }) => getTimeline(ctx, params.journeyId, params.userId),
  }),
  route({
    method: 'GET',
    path: '/api/client/users/{userId}/journeys',
    summary: 'List the journeys that a user is in.',
    description: 'Archived journeys are left out.',
    access: { secret: 'support' },
    params: { userId: pathUser },
    reply: JourneysOfUser,
    run: (ctx, { params }) => journeysOf(ctx, params.userId),
  }),
  route({
    method: 'GET',
    path: '/api/client/journeys/{journeyId}/users/{userId}/explain',
    summary: 'Explain why a user did or did not enter a journey.',
    description:
      'The reply has the last 20 events and list changes that could have made the user enter the live version. Each has its checks, in order. The first check that failed is the reason why the user did not enter.',
    access: { secret: 'support' },
    params: { ...params, userId: pathUser },
    reply: EntryExplanation,
    run: (ctx, { params }) => explainEntry(ctx, params.journeyId, params.userId),
  }),
]
