import { route } from '../../../infra/http/route.ts'
import type { CampaignId } from '../../../lib/ids.ts'
import { pathId } from '../../../lib/path-params.ts'
import { TextSizes, TextSizesInput } from './schema.ts'
import { textSizes } from './service.ts'

export const textSizeRoutes = [
  route({
    method: 'POST',
    path: '/api/client/campaigns/{campaignId}/text-sizes',
    summary: 'Measure a text message for a sample of users.',
    description:
      'Renders the message for up to 1,000 users who would get it: the first users in the campaign’s lists or, for a campaign without lists, the newest users with a phone number. Nothing is sent. If the request has a `template`, it is used for all users and not saved. Otherwise, the stored templates are used. Other channels return 422.',
    access: { secret: 'editor' },
    audit: { none: 'nothing is saved' },
    params: { campaignId: pathId<CampaignId>() },
    body: TextSizesInput,
    reply: TextSizes,
    errors: ['resource_missing', 'validation_failed'],
    run: (ctx, { params, body }) => textSizes(ctx, params.campaignId, body),
  }),
]
