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
    summary: 'Start a preflight of a blast.',
    description:
      'The message of every user in the audience is rendered in the background; nothing is sent. If a preflight is already running, it is returned. The newest five are kept.',
    access: { secret: 'editor' },
    audit: { none: 'it only counts' },
    params,
    reply: Preflight,
    status: 201,
    location: ({ campaign_id, id }) => `/api/client/campaigns/${campaign_id}/preflights/${id}`,
    run: (ctx, { params }) => startPreflight(ctx, params.campaignId),
  }),
  route({
    method: 'GET',
    path: '/api/client/campaigns/{campaignId}/preflights/{preflightId}',
    summary: 'Read the progress and the findings of a preflight.',
    description: 'An empty variable is reported if it is printed outside a block and without a `default` filter.',
    access: { secret: 'support' },
    params: { ...params, preflightId: pathId<PreflightId>() },
    reply: Preflight,
    run: (ctx, { params }) => getPreflight(ctx, params.campaignId, params.preflightId),
  }),
]
