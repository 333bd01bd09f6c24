import type { Static } from 'typebox'
import { audits } from '../../../infra/http/audited.ts'
import { route } from '../../../infra/http/route.ts'
import { pathId } from '../../../lib/path-params.ts'
import { Page } from '../../../lib/shapes.ts'
import { suppressionListing } from './queries.ts'
import { Suppression, SuppressionInputs, Suppressions } from './schema.ts'
import { createSuppressions, deleteSuppression, listSuppressions } from './service.ts'

const suppressionAudit = audits('suppression', { id: 'suppressionId' })

/** Addresses are data of users: the audit log has the ids of suppressions. */
const withoutAddresses = ({ results }: Static<typeof Suppressions>) => ({
  suppressions: results.map(({ id, channel, reason }) => ({ id, channel, reason })),
})

export const suppressionRoutes = [
  route({
    method: 'GET',
    path: '/api/client/suppressions',
    summary: 'List suppressed addresses.',
    description:
      '`q` finds a complete address in any notation. It also finds the suppressions of erased users, whose addresses are kept only as a hash.',
    access: { secret: 'support' },
    list: suppressionListing,
    reply: Page(Suppression),
    run: (ctx, { page }) => listSuppressions(ctx, page),
  }),
  route({
    method: 'POST',
    path: '/api/client/suppressions',
    summary: 'Suppress addresses.',
    description:
      'Suppressed addresses get no messages, whatever the subscription states of their users. With the reason `unsubscribed_all`, transactional messages are still sent. Either all items are applied, or none are. A stronger ' +
      'reason replaces a weaker one, except that it keeps `unsubscribed_all` in `source.covers`. From strongest to weakest, you can give `complaint`, `hard_bounce`, `manual` and `unsubscribed_all`. The reply has the current ' +
      'suppressions.',
    access: { secret: 'editor' },
    audit: suppressionAudit('created', { details: (_, reply) => withoutAddresses(reply as Static<typeof Suppressions>) }),
    body: SuppressionInputs,
    reply: Suppressions,
    run: async (ctx, { body, requestId }) => ({
      results: await createSuppressions(ctx, body, { key_id: ctx.caller.keyId, request_id: requestId }),
    }),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/suppressions/{suppressionId}',
    summary: 'Lift a suppression.',
    description:
      'Do this only if the user asks for it or the address was suppressed by mistake. If `source.covers` has an `unsubscribed_all`, that applies again, with another `id`.',
    access: { secret: 'admin' },
    audit: suppressionAudit('deleted'),
    params: { suppressionId: pathId<number>() },
    status: 204,
    run: (ctx, { params }) => deleteSuppression(ctx, params.suppressionId),
  }),
]
