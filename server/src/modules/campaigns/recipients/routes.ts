import { route } from '../../../infra/http/route.ts'
import type { CampaignId } from '../../../lib/ids.ts'
import { pathId, pathUser } from '../../../lib/path-params.ts'
import { Page } from '../../../lib/shapes.ts'
import { recipientListing } from '../../messages/index.ts'
import { explainRecipient } from './explain.ts'
import { DeliveryReport, RecipientExplanation, RecipientOf, RecipientQuery } from './schema.ts'
import { listRecipients, reportDelivery } from './service.ts'

const params = { campaignId: pathId<CampaignId>() }

/** The recipients of a campaign, explanations and counts. */
export const recipientRoutes = [
  route({
    method: 'GET',
    path: '/api/client/campaigns/{campaignId}/recipients',
    summary: 'List the recipients of a campaign with their messages.',
    description:
      'There is a message for each user of the audience. Users who get nothing are included, `skipped` with a `reason`. `q` finds a substring of `state` or `reason`.',
    access: { secret: 'support' },
    params,
    query: RecipientQuery,
    list: recipientListing,
    reply: Page(RecipientOf),
    run: (ctx, { params, query, page }) => listRecipients(ctx, params.campaignId, page, query),
  }),
  route({
    method: 'GET',
    path: '/api/client/campaigns/{campaignId}/recipients/{userId}/explain',
    summary: 'Explain why a user does or does not get a campaign.',
    description: 'The explanation is based on the current data and on the messages of the user. It also works before the campaign is sent.',
    access: { secret: 'support' },
    params: { ...params, userId: pathUser },
    reply: RecipientExplanation,
    run: (ctx, { params }) => explainRecipient(ctx, params.campaignId, params.userId),
  }),
  route({
    method: 'GET',
    path: '/api/client/campaigns/{campaignId}/delivery',
    summary: 'Count the messages of a campaign by state, reason and variant.',
    description: 'Skipped messages are counted too, with the reason.',
    access: { secret: 'support' },
    params,
    reply: DeliveryReport,
    run: (ctx, { params }) => reportDelivery(ctx, params.campaignId),
  }),
]
