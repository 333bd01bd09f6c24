import { route } from '../../../infra/http/route.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import { pathId, pathVersion } from '../../../lib/path-params.ts'
import { Page } from '../../../lib/shapes.ts'
import { checkedSteps, journeyAudit, versionedSteps } from '../audited.ts'
import { Steps, StepsInput } from '../schema.ts'
import { getSteps, replaceSteps } from './drafts.ts'
import { previewPublication, publish } from './publish.ts'
import { versionListing } from './queries.ts'
import type { FindReferenceFaults } from './readiness.ts'
import { diffVersions, getVersion, listVersions } from './reading.ts'
import { Difference, DiffQuery, Publication, PublishInput, Version, VersionQuery, VersionWithSteps } from './schema.ts'

const params = { journeyId: pathId<JourneyId>() }

/** Endpoints of steps and versions. */
export const versionRoutes = (find: FindReferenceFaults) => [
  route({
    method: 'GET',
    path: '/api/client/journeys/{journeyId}/steps',
    summary: 'Read the steps of a journey.',
    description:
      'The reply is an object with one member for each step, under the key of the step. Without `version`, the steps are those of the draft, or of the live version if there is no draft. Statistics are sums over all versions.',
    access: { secret: 'support' },
    versioned: versionedSteps,
    params,
    query: VersionQuery,
    reply: Steps,
    run: (ctx, { params, query }) => getSteps(ctx, params.journeyId, query.version),
  }),
  route({
    method: 'PUT',
    path: '/api/client/journeys/{journeyId}/steps',
    summary: 'Replace all steps of the draft of a journey.',
    description:
      'Steps that are left out are deleted. A step that keeps its key keeps its id. Ids in `data`, including those in rules, must belong to this project. ' +
      'The steps apply to users once the journey is published. In a live journey that was never published, the steps go live at once; if the steps have faults, the request is refused. Changing a journey that is not a draft needs `publisher`.',
    access: { secret: 'editor' },
    audit: journeyAudit('updated'),
    versioned: versionedSteps,
    params,
    body: StepsInput,
    reply: Steps,
    run: (ctx, { params, body }) => replaceSteps(ctx, params.journeyId, body, find),
  }),
  route({
    method: 'POST',
    path: '/api/client/journeys/{journeyId}/publish',
    summary: 'Publish the draft of a journey, or republish an earlier version.',
    description:
      'The steps and settings become the version that users enter; a draft becomes `live`. Users inside stay on their version, unless `plan` says otherwise. Users are moved in the background. Until all of them have moved, another publication is refused. With `If-Match`, the `ETag` of the steps, only the steps that you read are published.',
    access: { secret: 'publisher' },
    audit: journeyAudit('published', { always: true, details: ({ body }) => body as object }),
    versioned: checkedSteps,
    params,
    body: PublishInput,
    reply: Publication,
    errors: ['validation_failed'],
    run: (ctx, { params, body }) => publish(ctx, params.journeyId, body, find),
  }),
  route({
    method: 'POST',
    path: '/api/client/journeys/{journeyId}/publish/preview',
    summary: 'Show what a publication would do.',
    description: 'Returns the same reply as publishJourney, with all faults in `faults`. Nothing is saved.',
    access: { secret: 'publisher' },
    audit: { none: 'nothing is saved' },
    params,
    body: PublishInput,
    reply: Publication,
    errors: ['validation_failed'],
    run: (ctx, { params, body }) => previewPublication(ctx, params.journeyId, body, find),
  }),
  route({
    method: 'GET',
    path: '/api/client/journeys/{journeyId}/versions',
    summary: 'List the versions of a journey.',
    description: 'Newest first. `moving` is 0 once all users have followed the plan of the last publication.',
    access: { secret: 'support' },
    params,
    list: versionListing,
    reply: Page(Version),
    run: (ctx, { params, page }) => listVersions(ctx, params.journeyId, page),
  }),
  route({
    method: 'GET',
    path: '/api/client/journeys/{journeyId}/versions/{version}',
    summary: 'Read a version of a journey with its steps and settings.',
    description: 'Secrets in headers are hidden.',
    access: { secret: 'support' },
    params: { ...params, version: pathVersion },
    reply: VersionWithSteps,
    run: (ctx, { params }) => getVersion(ctx, params.journeyId, params.version),
  }),
  route({
    method: 'GET',
    path: '/api/client/journeys/{journeyId}/diff',
    summary: 'Compare two versions of a journey.',
    description: 'The positions of steps in the editor are not compared.',
    access: { secret: 'support' },
    params,
    query: DiffQuery,
    reply: Difference,
    run: (ctx, { params, query }) => diffVersions(ctx, params.journeyId, query.from ?? 'live', query.to ?? 'draft'),
  }),
]
