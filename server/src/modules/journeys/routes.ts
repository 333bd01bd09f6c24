import { route } from '../../infra/http/route.ts'
import type { JourneyId } from '../../lib/ids.ts'
import { pathId } from '../../lib/path-params.ts'
import { ArchivedQuery, Page } from '../../lib/shapes.ts'
import { journeyAudit, versionedJourney } from './audited.ts'
import { backtestRoutes } from './backtests/routes.ts'
import { byHandRoutes } from './by-hand/routes.ts'
import { insightRoutes } from './insight/routes.ts'
import { JourneyMeta, journeyMeta } from './meta.ts'
import { journeyListing } from './queries.ts'
import { Journey, JourneyChanges, JourneyInput } from './schema.ts'
import { archiveJourney, createJourney, getJourney, listJourneys, unarchiveJourney, updateJourney } from './service.ts'
import { simulationRoutes } from './simulation/routes.ts'
import type { FindReferenceFaults } from './versions/readiness.ts'
import { versionRoutes } from './versions/routes.ts'

const params = { journeyId: pathId<JourneyId>() }

/** Steps refer to objects of modules that this one does not import, so the check of references is passed in. */
export const journeyRoutes = ({ stepReferenceFaults }: { stepReferenceFaults: FindReferenceFaults }) => [
  route({
    method: 'GET',
    path: '/api/client/journeys',
    summary: 'List journeys.',
    description: 'Archived journeys are left out, unless `archived` is `true`.',
    access: { secret: 'support' },
    query: ArchivedQuery,
    list: journeyListing,
    reply: Page(Journey),
    run: (ctx, { page, query }) => listJourneys(ctx, page, query),
  }),
  route({
    method: 'POST',
    path: '/api/client/journeys',
    summary: 'Create a journey.',
    description: 'By default the journey is a draft. The statuses `live` and `off` need `publisher`.',
    access: { secret: 'editor' },
    audit: journeyAudit('created'),
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
      'For each kind of step, the reply has a label, the JSON Schema of its `data`, and an example with a description in words. No member of `data` is ' +
      'required, because a draft may be incomplete. The reply is the same for all projects and changes only with the version of the server.',
    access: { secret: 'support' },
    translated: true,
    reply: JourneyMeta,
    run: async ({ language }) => journeyMeta(language),
  }),
  route({
    method: 'GET',
    path: '/api/client/journeys/{journeyId}',
    summary: 'Read a journey.',
    description: 'The steps are in the reply of listJourneySteps.',
    access: { secret: 'support' },
    versioned: versionedJourney,
    params,
    reply: Journey,
    run: (ctx, { params }) => getJourney(ctx, params.journeyId),
  }),
  route({
    method: 'PATCH',
    path: '/api/client/journeys/{journeyId}',
    summary: 'Change a journey or its status.',
    description:
      'Members that are left out do not change. `settings` replaces all settings of the draft. The changes apply to users once ' +
      'the draft is published. A draft that becomes `live` is published; a journey that was `off` resumes with its last published version. A journey with users inside cannot become a draft. ' +
      'Setting a status other than `draft`, or changing a journey that is not a draft, needs `publisher`.',
    access: { secret: 'editor' },
    audit: journeyAudit('updated'),
    versioned: versionedJourney,
    params,
    body: JourneyChanges,
    reply: Journey,
    run: (ctx, { params, body }) => updateJourney(ctx, params.journeyId, body, stepReferenceFaults),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/journeys/{journeyId}',
    summary: 'Archive a journey.',
    description:
      'Users in the journey exit with the reason `archived`. Archiving a journey that is not a draft requires the `publisher` role.',
    access: { secret: 'editor' },
    audit: journeyAudit('deleted'),
    versioned: versionedJourney,
    params,
    status: 204,
    run: (ctx, { params }) => archiveJourney(ctx, params.journeyId),
  }),
  route({
    method: 'POST',
    path: '/api/client/journeys/{journeyId}/unarchive',
    summary: 'Restore an archived journey.',
    description:
      'A journey that was live is restored with the status `off`; set `status` to `live` to switch it on. Users who were inside when it was archived do not return. Restoring a journey that is not a draft needs `publisher`.',
    access: { secret: 'editor' },
    audit: journeyAudit('unarchived'),
    params,
    reply: Journey,
    run: (ctx, { params }) => unarchiveJourney(ctx, params.journeyId),
  }),
  ...versionRoutes(stepReferenceFaults),
  ...byHandRoutes,
  ...insightRoutes,
  ...simulationRoutes,
  ...backtestRoutes,
]
