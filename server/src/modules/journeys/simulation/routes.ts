import { route } from '../../../infra/http/route.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import { pathId } from '../../../lib/path-params.ts'
import { SimulationInput, SimulationResult } from './schema.ts'
import { simulate } from './service.ts'

const params = { journeyId: pathId<JourneyId>() }

/** The endpoint that shows what would happen to a user. */
export const simulationRoutes = [
  route({
    method: 'POST',
    path: '/api/client/journeys/{journeyId}/simulate',
    summary: 'Show what would happen to a user in a journey.',
    description:
      'The graph makes the same decisions as a live journey, and time jumps from one occurrence to the next. Nothing is written, sent or called. ' +
      'Earlier entrances of the user, other journeys, caps and quiet hours are ignored.',
    access: { secret: 'editor' },
    audit: { none: 'nothing is saved' },
    params,
    body: SimulationInput,
    reply: SimulationResult,
    errors: ['validation_failed'],
    run: (ctx, { params, body }) => simulate(ctx, params.journeyId, body),
  }),
]
