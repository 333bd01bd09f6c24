import { route } from '../../infra/http/route.ts'
import type { JourneyId } from '../../lib/ids.ts'
import { pathId } from '../../lib/path-params.ts'
import { Page } from '../../lib/shapes.ts'
import { JourneyMeta, journeyMeta } from './meta.ts'
import { journeyListing } from './queries.ts'
import { Journey, JourneyChanges, JourneyInput, Steps, StepsInput } from './schema.ts'
import {
  archiveJourney,
  createJourney,
  type FindReferenceFaults,
  getJourney,
  getSteps,
  listJourneys,
  replaceSteps,
  updateJourney,
} from './service.ts'

const params = { journeyId: pathId<JourneyId>() }

/** References of steps lead to modules that this one does not know, so the check is passed in. */
export const journeyRoutes = ({ stepReferenceFaults }: { stepReferenceFaults: FindReferenceFaults }) => [
  route({
    method: 'GET',
    path: '/api/client/journeys',
    summary: 'List journeys.',
    description: 'Archived journeys are left out.',
    access: { secret: 'support' },
    list: journeyListing,
    reply: Page(Journey),
    run: (ctx, { page }) => listJourneys(ctx, page),
  }),
  route({
    method: 'POST',
    path: '/api/client/journeys',
    summary: 'Create a journey.',
    description: 'By default the journey is a draft. The statuses `live` and `off` need `publisher`.',
    access: { secret: 'editor' },
    body: JourneyInput,
    reply: Journey,
    status: 201,
    location: ({ id }) => `/api/client/journeys/${id}`,
    run: (ctx, { body }) => createJourney(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/api/client/journeys/meta',
    summary: 'Describe the kinds of step, for editors.',
    description:
      'Each kind of step with a label, the JSON Schema of its `data`, and an example that is also given in words. No member of `data` is ' +
      'required, because a draft may be incomplete. The reply is the same for all projects and changes only with the version of the server.',
    access: { secret: 'support' },
    reply: JourneyMeta,
    run: async () => journeyMeta(),
  }),
  route({
    method: 'GET',
    path: '/api/client/journeys/{journeyId}',
    summary: 'Read a journey.',
    description: 'The steps are in the reply of listJourneySteps.',
    access: { secret: 'support' },
    params,
    reply: Journey,
    run: (ctx, { params }) => getJourney(ctx, params.journeyId),
  }),
  route({
    method: 'PATCH',
    path: '/api/client/journeys/{journeyId}',
    summary: 'Change a journey or its status.',
    description:
      'Members that are left out do not change. Setting a status other than `draft`, or changing a journey that is not a draft, needs `publisher`.',
    access: { secret: 'editor' },
    params,
    body: JourneyChanges,
    reply: Journey,
    run: (ctx, { params, body }) => updateJourney(ctx, params.journeyId, body),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/journeys/{journeyId}',
    summary: 'Archive a journey.',
    description: 'Archiving a journey that is not a draft needs `publisher`.',
    access: { secret: 'editor' },
    params,
    status: 204,
    run: (ctx, { params }) => archiveJourney(ctx, params.journeyId),
  }),
  route({
    method: 'GET',
    path: '/api/client/journeys/{journeyId}/steps',
    summary: 'Read the steps of a journey.',
    description: 'An object with a member for each step, named by its key.',
    access: { secret: 'support' },
    params,
    reply: Steps,
    run: (ctx, { params }) => getSteps(ctx, params.journeyId),
  }),
  route({
    method: 'PUT',
    path: '/api/client/journeys/{journeyId}/steps',
    summary: 'Replace all steps of a journey.',
    description:
      'Steps that are left out are deleted. A step that keeps its key keeps its id. Ids in `data`, also those in rules, must be of this project. Changing a journey that is not a draft needs `publisher`.',
    access: { secret: 'editor' },
    params,
    body: StepsInput,
    reply: Steps,
    run: (ctx, { params, body }) => replaceSteps(ctx, params.journeyId, body, stepReferenceFaults),
  }),
]
