import { route } from '../../../infra/http/route.ts'
import { pathUser } from '../../../lib/path-params.ts'
import { Page } from '../../../lib/shapes.ts'
import { requireUser } from '../../users/index.ts'
import { consentListing, listConsents } from './queries.ts'
import { ConsentEntry } from './schema.ts'

export const consentRoutes = [
  route({
    method: 'GET',
    path: '/api/client/users/{userId}/consents',
    summary: 'List the consent entries of a user.',
    description:
      'Latest first. Each change of a subscription state has an entry with the time, the states before and after, the source and the ' +
      'proof. The latest entry for a subscription type has its current state. Erasing the user deletes the entries.',
    access: { secret: 'support' },
    params: { userId: pathUser },
    list: consentListing,
    reply: Page(ConsentEntry),
    run: async (ctx, { params, page }) => listConsents(ctx, (await requireUser(ctx, params.userId)).id, page),
  }),
]
