import { Type } from 'typebox'
import { route } from '../../infra/route.ts'
import { fault } from '../../lib/errors.ts'
import type { CampaignId } from '../../lib/ids.ts'
import { isLocale, normaliseLocale } from '../../lib/locales.ts'
import { pathId } from '../../lib/path-params.ts'
import { Exact, Page } from '../../lib/shapes.ts'
import { listTemplates, putTemplate, removeTemplate } from './edit-templates.ts'
import { campaignListing } from './queries.ts'
import { Campaign, CampaignChanges, CampaignInput, Template } from './schema.ts'
import {
  archiveCampaign,
  createCampaign,
  type DeliveryOf,
  duplicateCampaign,
  getCampaign,
  listCampaigns,
  presentCampaign,
  presentCampaigns,
  updateCampaign,
  type WhenAborted,
} from './service.ts'

const params = { campaignId: pathId<CampaignId>() }

const LOCALE_LENGTH_MAX = 255
const locale = {
  schema: Type.String({ minLength: 1, maxLength: LOCALE_LENGTH_MAX, description: 'BCP-47 tag.' }),
  read(text: string, name: string): string {
    if (text.length <= LOCALE_LENGTH_MAX && isLocale(text)) return normaliseLocale(text)
    throw fault('parameter_invalid_format', name, `The path parameter \`${name}\` must be a language tag such as \`en-AU\`.`)
  },
}

const Content = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: 'The members depend on the channel of the campaign; every string is Liquid.',
})

const location = ({ id }: Campaign) => `/api/client/campaigns/${id}`

/** `whenAborted` stops unsent messages; `deliveryOf` counts what became of the others. */
export const campaignRoutes = (whenAborted: WhenAborted, deliveryOf: DeliveryOf) => [
  route({
    method: 'GET',
    path: '/api/client/campaigns',
    summary: 'List campaigns.',
    access: { secret: 'support' },
    list: campaignListing,
    reply: Page(Campaign),
    run: async (ctx, { page }) => presentCampaigns(ctx, await listCampaigns(ctx, page), deliveryOf),
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
    run: async (ctx, { body }) => presentCampaign(ctx, await createCampaign(ctx, body), deliveryOf),
  }),
  route({
    method: 'GET',
    path: '/api/client/campaigns/{campaignId}',
    summary: 'Read a campaign.',
    access: { secret: 'support' },
    params,
    reply: Campaign,
    run: async (ctx, { params }) => presentCampaign(ctx, await getCampaign(ctx, params.campaignId), deliveryOf),
  }),
  route({
    method: 'PATCH',
    path: '/api/client/campaigns/{campaignId}',
    summary: 'Change a campaign or its state; only the members given change.',
    description:
      'Write `state` to schedule a blast (`scheduled`, or `draft` to take it back), to run or finish a trigger (`running`, `finished`), or to abort either (`aborted`). A `state`, and any change to what is no draft, takes the role `publisher`.',
    access: { secret: 'editor' },
    params,
    body: CampaignChanges,
    reply: Campaign,
    run: async (ctx, { params, body }) => presentCampaign(ctx, await updateCampaign(ctx, params.campaignId, body, whenAborted), deliveryOf),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/campaigns/{campaignId}',
    summary: 'Archive a campaign; one that is under way is aborted first.',
    description: 'What is no draft takes the role `publisher`.',
    access: { secret: 'editor' },
    params,
    status: 204,
    run: (ctx, { params }) => archiveCampaign(ctx, params.campaignId, whenAborted),
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
    run: async (ctx, { params }) => presentCampaign(ctx, await duplicateCampaign(ctx, params.campaignId), deliveryOf),
  }),
  route({
    method: 'GET',
    path: '/api/client/campaigns/{campaignId}/templates',
    summary: 'List the templates of a campaign, one for each locale.',
    access: { secret: 'support' },
    params,
    reply: Exact({ results: Type.Array(Template) }),
    run: async (ctx, { params }) => ({ results: await listTemplates(ctx, params.campaignId) }),
  }),
  route({
    method: 'PUT',
    path: '/api/client/campaigns/{campaignId}/templates/{locale}',
    summary: 'Create or replace the template of a locale.',
    access: { secret: 'editor' },
    params: { ...params, locale },
    body: Content,
    reply: Template,
    run: (ctx, { params, body }) => putTemplate(ctx, params.campaignId, params.locale, body),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/campaigns/{campaignId}/templates/{locale}',
    summary: 'Remove the template of a locale.',
    access: { secret: 'editor' },
    params: { ...params, locale },
    status: 204,
    run: (ctx, { params }) => removeTemplate(ctx, params.campaignId, params.locale),
  }),
]
