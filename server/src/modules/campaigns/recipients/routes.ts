import { route } from '../../../infra/http/route.ts'
import type { CampaignId } from '../../../lib/ids.ts'
import { pathId, pathUser } from '../../../lib/path-params.ts'
import { Page } from '../../../lib/shapes.ts'
import { recipientListing } from '../../messages/index.ts'
import { explainRecipient } from './explain.ts'
import { DeliveryReport, RecipientExplanation, RecipientOf, RecipientQuery } from './schema.ts'
import { listRecipients, reportDelivery } from './service.ts'

const params = { campaignId: pathId<CampaignId>() }

/** Who got a campaign, who did not, and why. */
export const recipientRoutes = [
  route({
    method: 'GET',
    path: '/api/client/campaigns/{campaignId}/recipients',
    summary: 'List the messages of a campaign, one for each user of the audience, with what became of them.',
    description: 'Who gets nothing is in the list, `skipped` for a `reason`. `q` finds a substring of `state` or `reason`.',
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
    summary: 'Say why a user gets a campaign, or does not.',
    description: 'By what is so now, before the campaign goes out too, and by what became of the messages.',
    access: { secret: 'support' },
    params: { ...params, userId: pathUser },
    reply: RecipientExplanation,
    run: (ctx, { params }) => explainRecipient(ctx, params.campaignId, params.userId),
  }),
  route({
    method: 'GET',
    path: '/api/client/campaigns/{campaignId}/delivery',
    summary: 'Count what became of the messages of a campaign, by state, reason and variant.',
    access: { secret: 'support' },
    params,
    reply: DeliveryReport,
    run: (ctx, { params }) => reportDelivery(ctx, params.campaignId),
  }),
]
