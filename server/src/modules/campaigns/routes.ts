import { audits } from '../../infra/http/audited.ts'
import { route } from '../../infra/http/route.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { CampaignId } from '../../lib/ids.ts'
import { pathId } from '../../lib/path-params.ts'
import { ForceQuery, Page } from '../../lib/shapes.ts'
import { CampaignLinks, linksOfCampaign } from '../tracking/index.ts'
import { allTemplateRoutes, type JourneysSending } from './all-templates.ts'
import { attachmentRoutes } from './attachment-routes.ts'
import { directRoutes } from './direct/routes.ts'
import type { OnUsersSaved } from './direct/service.ts'
import { DirectlyTriggered, DirectTrigger, triggerCampaign } from './direct/trigger.ts'
import { pauseCampaign, resumeCampaign } from './pausing.ts'
import { preflightRoutes } from './preflight/routes.ts'
import { campaignListing } from './queries.ts'
import { CampaignQuery } from './query.schema.ts'
import { recipientRoutes } from './recipients/routes.ts'
import { Campaign, CampaignChanges, CampaignInput } from './schema.ts'
import {
  countedInFlight,
  createCampaign,
  duplicateCampaign,
  getCampaign,
  listCampaigns,
  presentCampaign,
  presentCampaigns,
  presentWritten,
  unarchiveCampaign,
  updateCampaign,
} from './service.ts'
import { requestedState } from './states.ts'
import { templateRoutes } from './template-routes.ts'
import { textSizeRoutes } from './text-sizes/routes.ts'
import { versionRoutes } from './version-routes.ts'

const params = { campaignId: pathId<CampaignId>() }

const state = { read: async (ctx: ProjectCtx, id: CampaignId) => presentCampaign(ctx, await getCampaign(ctx, id)), ignored: ['delivery'] }
const campaignAudit = audits('campaign', { ...state, id: 'campaignId' })
/** A copy has its id in the reply; the path has that of the original. */
const campaignCopyAudit = audits('campaign', state)

/** Members that a change does not set: progress, counts, times and a pause. */
const NOT_IN_VERSION = [
  'delivery',
  'in_flight',
  'updated_at',
  'started_at',
  'finished_at',
  'winner_variant',
  'is_paused',
  'paused_at',
  'paused_reason',
]

const versioned = {
  of: (campaign: Campaign) => ({
    ...Object.fromEntries(Object.entries(campaign).filter(([name]) => !NOT_IN_VERSION.includes(name))),
    state: requestedState(campaign.type, campaign.state),
  }),
}

const location = ({ id }: Campaign) => `/api/client/campaigns/${id}`

/** Functions that need modules that depend on this one. */
type Verbs = {
  /** Throws 403, 404, and 422 when a live journey uses the campaign, unless it is forced. */
  archiveCampaign(ctx: ProjectCtx, id: CampaignId, options: { isForced: boolean }): Promise<void>
  onUsersSaved: OnUsersSaved
  journeysSending: JourneysSending
}

const ofCampaigns = (verbs: Verbs) => [
  route({
    method: 'GET',
    path: '/api/client/campaigns',
    summary: 'List campaigns.',
    description: 'Newest first. Archived campaigns are left out, unless `archived` is `true`.',
    access: { secret: 'support' },
    query: CampaignQuery,
    list: campaignListing,
    reply: Page(Campaign),
    run: async (ctx, { page, query }) => presentCampaigns(ctx, await listCampaigns(ctx, page, query)),
  }),
  route({
    method: 'POST',
    path: '/api/client/campaigns',
    summary: 'Create a campaign.',
    description: 'The new campaign is a draft. Its channel is the channel of the subscription type.',
    access: { secret: 'editor' },
    audit: campaignAudit('created'),
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
    description: '`delivery` has the main counts; getCampaignDelivery has all of them.',
    access: { secret: 'support' },
    versioned,
    params,
    reply: Campaign,
    run: async (ctx, { params }) => presentCampaign(ctx, await getCampaign(ctx, params.campaignId)),
  }),
  route({
    method: 'PATCH',
    path: '/api/client/campaigns/{campaignId}',
    summary: 'Change a campaign or its state.',
    description:
      'Members that are left out do not change. Set `state` to schedule a blast (`scheduled`) or make it a draft again (`draft`), to run or finish a trigger (`running`, `finished`), or to abort either (`aborted`). A new `send_at` withdraws the unsent messages of a blast that is being sent: the blast is `aborting` until no message is in flight, and then `scheduled`. Users who already got it do not get it again. Setting `state`, or changing a campaign that is not a draft, needs `publisher`.',
    access: { secret: 'editor' },
    audit: campaignAudit('updated'),
    versioned,
    params,
    body: CampaignChanges,
    reply: Campaign,
    run: async (ctx, { params, body }) => presentWritten(ctx, await updateCampaign(ctx, params.campaignId, body)),
    committed: countedInFlight,
  }),
  route({
    method: 'DELETE',
    path: '/api/client/campaigns/{campaignId}',
    summary: 'Archive a campaign.',
    description: 'An active campaign is aborted first. Archiving a campaign that is not a draft needs `publisher`.',
    access: { secret: 'editor' },
    audit: campaignAudit('deleted'),
    versioned,
    params,
    query: ForceQuery,
    status: 204,
    errors: ['validation_failed'],
    run: (ctx, { params, query }) => verbs.archiveCampaign(ctx, params.campaignId, { isForced: query.force === 'true' }),
  }),
  route({
    method: 'POST',
    path: '/api/client/campaigns/{campaignId}/unarchive',
    summary: 'Restore an archived campaign.',
    description:
      'Its former state is restored, except that a campaign that was active stays `aborted`. If another campaign has taken its `slug`, a number is added. Restoring a campaign that is not a draft needs `publisher`.',
    access: { secret: 'editor' },
    audit: campaignAudit('unarchived'),
    params,
    reply: Campaign,
    errors: ['resource_already_exists'],
    run: async (ctx, { params }) => presentCampaign(ctx, await unarchiveCampaign(ctx, params.campaignId)),
  }),
  route({
    method: 'POST',
    path: '/api/client/campaigns/{campaignId}/duplicate',
    summary: 'Copy a campaign with its templates into a new draft.',
    description: 'The copy has no `send_at`.',
    access: { secret: 'editor' },
    audit: campaignCopyAudit('duplicated'),
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
    summary: 'List the tracked links of a campaign with their clicks.',
    description:
      'Counts are exact and may be some seconds old. Clicks by scanners and privacy proxies are counted separately. Links of earlier templates are included. At most the first 1000 links are listed.',
    access: { secret: 'support' },
    params,
    reply: CampaignLinks,
    run: async (ctx, { params }) => linksOfCampaign(ctx, (await getCampaign(ctx, params.campaignId)).id),
  }),
  route({
    method: 'POST',
    path: '/api/client/campaigns/{campaignId}/pause',
    summary: 'Pause a campaign that is `scheduled`, `loading` or `running`.',
    description:
      'Once the request returns, no more messages are given to a provider until the campaign is resumed, and a scheduled blast is not launched. `state` does not change. While the campaign is paused, replies have `is_paused` and `paused_at`. Pausing again changes nothing.',
    access: { secret: 'publisher' },
    audit: campaignAudit('paused'),
    params,
    reply: Campaign,
    run: async (ctx, { params }) => presentCampaign(ctx, await pauseCampaign(ctx, params.campaignId)),
  }),
  route({
    method: 'POST',
    path: '/api/client/campaigns/{campaignId}/resume',
    summary: 'Resume a paused campaign.',
    description:
      'A blast that came due during the pause is launched at once. Messages that came due are sent at once unless they have expired.',
    access: { secret: 'publisher' },
    audit: campaignAudit('resumed'),
    params,
    reply: Campaign,
    run: async (ctx, { params }) => presentCampaign(ctx, await resumeCampaign(ctx, params.campaignId)),
  }),
  route({
    method: 'POST',
    path: '/api/client/campaigns/{campaignId}/trigger',
    summary: 'Send a running trigger campaign to a user, without an event.',
    description: 'The `event_rule` is not evaluated. Subscriptions and suppressions apply as usual.',
    access: { secret: 'publisher' },
    audit: { none: 'a message is not configuration' },
    params,
    body: DirectTrigger,
    reply: DirectlyTriggered,
    status: 202,
    run: (ctx, { params, body }) => triggerCampaign(ctx, params.campaignId, body),
  }),
]

export const campaignRoutes = (verbs: Verbs) => [
  ...ofCampaigns(verbs),
  ...ofProgress,
  ...templateRoutes,
  ...allTemplateRoutes(verbs.journeysSending),
  ...versionRoutes,
  ...attachmentRoutes,
  ...recipientRoutes,
  ...preflightRoutes,
  ...textSizeRoutes,
  ...directRoutes(verbs.onUsersSaved),
]
