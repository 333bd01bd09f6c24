import { route } from '../../../infra/http/route.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import { pathId, pathUser } from '../../../lib/path-params.ts'
import { journeyAudit } from '../audited.ts'
import { drainJourney, holdJourney, resumeJourney, stopJourney } from '../control.ts'
import { Journey } from '../schema.ts'
import { enterJourney, moveUser, removeUser, retryStep, skipStep } from './entrances.ts'
import { Concerned, DrainInput, Entered, EntranceInput, EntranceQuery, MoveInput, OptionalEntrance } from './schema.ts'

const params = { journeyId: pathId<JourneyId>() }
const userParams = { ...params, userId: pathUser }

const OF_A_USER = { none: 'where a user is has its own trail' }

/** Endpoints that switch a journey or move its users. */
export const byHandRoutes = [
  route({
    method: 'POST',
    path: '/api/client/journeys/{journeyId}/drain',
    summary: 'Switch a journey off and let its users finish.',
    description: 'No more users enter. With `within`, users who are still inside after that time exit with the reason `drained`.',
    access: { secret: 'publisher' },
    audit: journeyAudit('drained'),
    params,
    body: DrainInput,
    reply: Journey,
    status: 202,
    errors: ['validation_failed'],
    run: (ctx, { params, body }) => drainJourney(ctx, params.journeyId, body),
  }),
  route({
    method: 'POST',
    path: '/api/client/journeys/{journeyId}/stop',
    summary: 'Switch a journey off and make all its users exit.',
    description: 'They exit in the background with the reason `stopped`. Unsent messages are aborted.',
    access: { secret: 'publisher' },
    audit: journeyAudit('stopped'),
    params,
    reply: Journey,
    status: 202,
    errors: ['validation_failed'],
    run: (ctx, { params }) => stopJourney(ctx, params.journeyId),
  }),
  route({
    method: 'POST',
    path: '/api/client/journeys/{journeyId}/hold',
    summary: 'Hold a journey, so that its users stay at their steps.',
    description:
      'Users who reach a step of the type `action`, `webhook` or `link` wait there, and no delay or timeout ends. Users still enter, an event that a step waits for still ends its wait, and users who meet an exit criterion exit.',
    access: { secret: 'publisher' },
    audit: journeyAudit('held'),
    params,
    reply: Journey,
    errors: ['validation_failed'],
    run: (ctx, { params }) => holdJourney(ctx, params.journeyId),
  }),
  route({
    method: 'POST',
    path: '/api/client/journeys/{journeyId}/resume',
    summary: 'Resume a held journey.',
    description: 'Timers that became due meanwhile fire now, in the order in which they became due, and users who wait at a step continue.',
    access: { secret: 'publisher' },
    audit: journeyAudit('resumed'),
    params,
    reply: Journey,
    errors: ['validation_failed'],
    run: (ctx, { params }) => resumeJourney(ctx, params.journeyId),
  }),
  route({
    method: 'POST',
    path: '/api/client/journeys/{journeyId}/entrances',
    summary: 'Enter a user into a live journey.',
    description:
      'The rules of the entrance and the settings of the journey apply, so the user may be kept out; getJourneyUserExplain shows why. An unknown user is refused.',
    access: { secret: 'publisher' },
    audit: OF_A_USER,
    params,
    body: EntranceInput,
    reply: Entered,
    status: 202,
    errors: ['validation_failed'],
    run: (ctx, { params, body }) => enterJourney(ctx, params.journeyId, body),
  }),
  route({
    method: 'POST',
    path: '/api/client/journeys/{journeyId}/users/{userId}/move',
    summary: 'Move a user to a step.',
    description: 'The step must be in the version that the user is on. The wait at the current step ends.',
    access: { secret: 'publisher' },
    audit: OF_A_USER,
    params: userParams,
    body: MoveInput,
    reply: Concerned,
    status: 202,
    errors: ['validation_failed'],
    run: (ctx, { params, body }) => moveUser(ctx, params.journeyId, params.userId, body),
  }),
  route({
    method: 'POST',
    path: '/api/client/journeys/{journeyId}/users/{userId}/skip',
    summary: 'Skip a user’s current step.',
    description:
      'The user leaves by the default path. A step without one cannot be skipped. If the user has left the step before the request is applied, nothing happens.',
    access: { secret: 'publisher' },
    audit: OF_A_USER,
    params: userParams,
    body: OptionalEntrance,
    reply: Concerned,
    status: 202,
    errors: ['validation_failed'],
    run: (ctx, { params, body }) => skipStep(ctx, params.journeyId, params.userId, body.entrance_id),
  }),
  route({
    method: 'POST',
    path: '/api/client/journeys/{journeyId}/users/{userId}/retry',
    summary: 'Retry the decision about a user at the current step.',
    description: 'Use this when the decision about a user has failed. Replies about such a user have the member `parked`.',
    access: { secret: 'publisher' },
    audit: OF_A_USER,
    params: userParams,
    body: OptionalEntrance,
    reply: Concerned,
    status: 202,
    errors: ['validation_failed'],
    run: (ctx, { params, body }) => retryStep(ctx, params.journeyId, params.userId, body.entrance_id),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/journeys/{journeyId}/users/{userId}',
    summary: 'Remove a user from a journey.',
    description: 'The user exits with the reason `removed`. The records of earlier entrances are kept.',
    access: { secret: 'publisher' },
    audit: OF_A_USER,
    params: userParams,
    query: EntranceQuery,
    reply: Concerned,
    status: 202,
    errors: ['validation_failed'],
    run: (ctx, { params, query }) =>
      removeUser(ctx, params.journeyId, params.userId, query.entrance_id === undefined ? undefined : Number(query.entrance_id)),
  }),
]
