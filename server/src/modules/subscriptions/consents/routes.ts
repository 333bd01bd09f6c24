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
    summary: 'List what led to where a user stands, latest first.',
    description:
      'Every change of a state is an entry that stays: when, from what to what, over which way, and what shows it. The last entry of ' +
      'a type is the state that holds. Erasing the user erases the entries.',
    access: { secret: 'support' },
    params: { userId: pathUser },
    list: consentListing,
    reply: Page(ConsentEntry),
    run: async (ctx, { params, page }) => listConsents(ctx, (await requireUser(ctx, params.userId)).id, page),
  }),
]
