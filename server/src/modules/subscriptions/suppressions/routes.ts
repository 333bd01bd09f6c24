import { route } from '../../../infra/http/route.ts'
import { pathId } from '../../../lib/path-params.ts'
import { Page } from '../../../lib/shapes.ts'
import { suppressionListing } from './queries.ts'
import { Suppression, SuppressionInputs, Suppressions } from './schema.ts'
import { createSuppressions, deleteSuppression, listSuppressions } from './service.ts'

export const suppressionRoutes = [
  route({
    method: 'GET',
    path: '/api/client/suppressions',
    summary: 'List the addresses that get nothing.',
    description:
      'With `q`, a whole address, however it is written: is it suppressed? That finds entries of erased people too, of whom only a hash is kept.',
    access: { secret: 'support' },
    list: suppressionListing,
    reply: Page(Suppression),
    run: (ctx, { page }) => listSuppressions(ctx, page),
  }),
  route({
    method: 'POST',
    path: '/api/client/suppressions',
    summary: 'Suppress addresses: they get nothing more, whatever their state.',
    description:
      'All items are applied or none. An address that is suppressed already keeps the weightier reason: `complaint` before ' +
      '`hard_bounce` before `manual` before `unsubscribed_all`. The reply has each as it is now.',
    access: { secret: 'editor' },
    body: SuppressionInputs,
    reply: Suppressions,
    run: async (ctx, { body, requestId }) => ({
      results: await createSuppressions(ctx, body, { key_id: ctx.caller.keyId, request_id: requestId }),
    }),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/suppressions/{suppressionId}',
    summary: 'Lift a suppression. Do so only when the person asks for it, or the address was wrong to be there.',
    access: { secret: 'admin' },
    params: { suppressionId: pathId<number>() },
    status: 204,
    run: (ctx, { params }) => deleteSuppression(ctx, params.suppressionId),
  }),
]
