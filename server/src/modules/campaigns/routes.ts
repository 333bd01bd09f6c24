import { route } from '../../infra/http/route.ts'
import type { CampaignId } from '../../lib/ids.ts'
import { pathId } from '../../lib/path-params.ts'
import { Page } from '../../lib/shapes.ts'
import { CampaignLinks, linksOfCampaign } from '../tracking/index.ts'
import { DirectlyTriggered, DirectTrigger, triggerCampaign } from './direct.ts'
import { pauseCampaign, resumeCampaign } from './pausing.ts'
import { preflightRoutes } from './preflight/routes.ts'
import { campaignListing } from './queries.ts'
import { recipientRoutes } from './recipients/routes.ts'
import { Campaign, CampaignChanges, CampaignInput } from './schema.ts'
import {
  archiveCampaign,
  createCampaign,
  duplicateCampaign,
  getCampaign,
  listCampaigns,
  presentCampaign,
  presentCampaigns,
  presentWritten,
  updateCampaign,
} from './service.ts'
import { templateRoutes } from './template-routes.ts'

const params = { campaignId: pathId<CampaignId>() }

const location = ({ id }: Campaign) => `/api/client/campaigns/${id}`

const ofCampaigns = [
  route({
    method: 'GET',
    path: '/api/client/campaigns',
    summary: 'List campaigns.',
    access: { secret: 'support' },
    list: campaignListing,
    reply: Page(Campaign),
    run: async (ctx, { page }) => presentCampaigns(ctx, await listCampaigns(ctx, page)),
  }),
  route({
    method: 'POST',
    path: '/api/client/campaigns',
    summary: 'Create a campaign.',
    description: 'It starts as a draft. The channel is that of the subscription type.',
    access: { secret: 'editor' },
    body: CampaignInput,
    reply: Campaign,
    status: 201,
    location,
    run: async (ctx, { body }) => presentCampaign(ctx, await createCampaign(ctx, body)),
  }),
  route({
    method: 'GET',
    path: '/api/client/campaigns/{campaignId}',
    summary: 'Read a campaign.',
    access: { secret: 'support' },
    params,
    reply: Campaign,
    run: async (ctx, { params }) => presentCampaign(ctx, await getCampaign(ctx, params.campaignId)),
  }),
  route({
    method: 'PATCH',
    path: '/api/client/campaigns/{campaignId}',
    summary: 'Change a campaign or its state; only the members given change.',
    description:
      'Write `state` to schedule a blast (`scheduled`, or `draft` to take it back), to run or finish a trigger (`running`, `finished`), or to abort either (`aborted`). A new `send_at` calls a blast back that is going out: it is `aborting` until nothing is left on its way, and then `scheduled`; who got it does not get it again. A `state`, and any change to what is no draft, takes the role `publisher`.',
    access: { secret: 'editor' },
    params,
    body: CampaignChanges,
    reply: Campaign,
    run: async (ctx, { params, body }) => presentWritten(ctx, await updateCampaign(ctx, params.campaignId, body)),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/campaigns/{campaignId}',
    summary: 'Archive a campaign; one that is under way is aborted first.',
    description: 'What is no draft takes the role `publisher`.',
    access: { secret: 'editor' },
    params,
    status: 204,
    run: (ctx, { params }) => archiveCampaign(ctx, params.campaignId),
  }),
  route({
    method: 'POST',
    path: '/api/client/campaigns/{campaignId}/duplicate',
    summary: 'Copy a campaign with its templates into a new draft.',
    description: 'The copy has no `send_at`.',
    access: { secret: 'editor' },
    params,
    reply: Campaign,
    status: 201,
    location,
    run: async (ctx, { params }) => presentCampaign(ctx, await duplicateCampaign(ctx, params.campaignId)),
  }),
]

const ofProgress = [
  route({
    method: 'GET',
    path: '/api/client/campaigns/{campaignId}/links',
    summary: 'List the links of a campaign with what came of each.',
    description:
      'Counts are exact and a few seconds old. What scanners and privacy proxies did is counted apart. Links of former templates stay. At most the first 1000 links are shown.',
    access: { secret: 'support' },
    params,
    reply: CampaignLinks,
    run: async (ctx, { params }) => linksOfCampaign(ctx, (await getCampaign(ctx, params.campaignId)).id),
  }),
  route({
    method: 'POST',
    path: '/api/client/campaigns/{campaignId}/pause',
    summary: 'Hold a campaign that is `loading` or `running`.',
    description: 'When the reply is there, nothing more is handed to a provider until it is resumed. Pausing twice does no harm.',
    access: { secret: 'publisher' },
    params,
    reply: Campaign,
    run: async (ctx, { params }) => presentCampaign(ctx, await pauseCampaign(ctx, params.campaignId)),
  }),
  route({
    method: 'POST',
    path: '/api/client/campaigns/{campaignId}/resume',
    summary: 'Let a campaign go on that was paused.',
    description: 'What has become due meanwhile goes at once, unless it is past its deadline.',
    access: { secret: 'publisher' },
    params,
    reply: Campaign,
    run: async (ctx, { params }) => presentCampaign(ctx, await resumeCampaign(ctx, params.campaignId)),
  }),
  route({
    method: 'POST',
    path: '/api/client/campaigns/{campaignId}/trigger',
    summary: 'Send a running trigger campaign to a user, without an event.',
    description: 'Its `event_rule` is not asked. Subscriptions and suppressions hold as always.',
    access: { secret: 'publisher' },
    params,
    body: DirectTrigger,
    reply: DirectlyTriggered,
    status: 202,
    run: (ctx, { params, body }) => triggerCampaign(ctx, params.campaignId, body),
  }),
]

export const campaignRoutes = [...ofCampaigns, ...ofProgress, ...templateRoutes, ...recipientRoutes, ...preflightRoutes]
