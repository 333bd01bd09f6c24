import { route } from '../../../infra/http/route.ts'
import type { CampaignId, PreflightId } from '../../../lib/ids.ts'
import { pathId } from '../../../lib/path-params.ts'
import { Preflight } from './schema.ts'
import { getPreflight, startPreflight } from './service.ts'

const params = { campaignId: pathId<CampaignId>() }

export const preflightRoutes = [
  route({
    method: 'POST',
    path: '/api/client/campaigns/{campaignId}/preflights',
    summary: 'Rehearse a blast with its whole audience; nothing is sent.',
    description:
      'Every user’s message is made in the background. While one rehearsal is under way, that is the reply. The newest five are kept.',
    access: { secret: 'editor' },
    params,
    reply: Preflight,
    status: 201,
    location: ({ campaign_id, id }) => `/api/client/campaigns/${campaign_id}/preflights/${id}`,
    run: (ctx, { params }) => startPreflight(ctx, params.campaignId),
  }),
  route({
    method: 'GET',
    path: '/api/client/campaigns/{campaignId}/preflights/{preflightId}',
    summary: 'Read how far a rehearsal is, and what it has found.',
    description: 'A variable counts as empty when it is printed outside of a block and without `default`.',
    access: { secret: 'support' },
    params: { ...params, preflightId: pathId<PreflightId>() },
    reply: Preflight,
    run: (ctx, { params }) => getPreflight(ctx, params.campaignId, params.preflightId),
  }),
]
