import { Type } from 'typebox'
import { route } from '../../infra/http/route.ts'
import { fault } from '../../lib/errors.ts'
import type { CampaignId } from '../../lib/ids.ts'
import { isLocale, normaliseLocale } from '../../lib/locales.ts'
import { pathId } from '../../lib/path-params.ts'
import { Exact } from '../../lib/shapes.ts'
import {
  Content,
  LintReport,
  lintTemplates,
  Preview,
  PreviewInput,
  previewTemplate,
  SavedTemplate,
  Template,
  TestInput,
  TestReport,
  VariantName,
  variantNumber,
} from '../templates/index.ts'
import { listTemplates, putTemplate, removeTemplate } from './edit-templates.ts'
import { getCampaign } from './service.ts'
import { sendTests } from './test-sends.ts'

const params = { campaignId: pathId<CampaignId>() }

const LOCALE_LENGTH_MAX = 255
const locale = {
  schema: Type.String({ minLength: 1, maxLength: LOCALE_LENGTH_MAX, description: 'BCP-47 tag.' }),
  read(text: string, name: string): string {
    if (text.length <= LOCALE_LENGTH_MAX && isLocale(text)) return normaliseLocale(text)
    throw fault('parameter_invalid_format', name, `The path parameter \`${name}\` must be a language tag such as \`en-AU\`.`)
  },
}

const query = Exact({ variant: Type.Optional(VariantName) })

/** The templates of a campaign: writing them, trying them out. */
export const templateRoutes = [
  route({
    method: 'GET',
    path: '/api/client/campaigns/{campaignId}/templates',
    summary: 'List the templates of a campaign, one for each locale and variant.',
    access: { secret: 'support' },
    params,
    reply: Exact({ results: Type.Array(Template) }),
    run: async (ctx, { params }) => ({ results: await listTemplates(ctx, params.campaignId) }),
  }),
  route({
    method: 'PUT',
    path: '/api/client/campaigns/{campaignId}/templates/{locale}',
    summary: 'Create or replace the template of a locale.',
    description:
      'MJML is compiled and plain text made when a template is saved. What would not survive that is refused; what is worth knowing besides is in `findings`.',
    access: { secret: 'editor' },
    params: { ...params, locale },
    query,
    body: Content,
    reply: SavedTemplate,
    run: (ctx, { params, query, body }) => putTemplate(ctx, { ...params, variant: variantNumber(query.variant) }, body),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/campaigns/{campaignId}/templates/{locale}',
    summary: 'Remove the template of a locale.',
    access: { secret: 'editor' },
    params: { ...params, locale },
    query,
    status: 204,
    run: (ctx, { params, query }) => removeTemplate(ctx, { ...params, variant: variantNumber(query.variant) }),
  }),
  route({
    method: 'POST',
    path: '/api/client/campaigns/{campaignId}/preview',
    summary: 'Show what somebody would get.',
    description:
      'Of the stored templates, or of the one in `template`, which is not saved. For `user` as far as this key may see them, for the values in `data`, or for a made-up person. Links to unsubscribe lead nowhere.',
    access: { secret: 'support' },
    params,
    body: PreviewInput,
    reply: Preview,
    run: async (ctx, { params, body }) => previewTemplate(ctx, await getCampaign(ctx, params.campaignId), body),
  }),
  route({
    method: 'GET',
    path: '/api/client/campaigns/{campaignId}/lint',
    summary: 'List what is worth knowing about the templates before they are sent.',
    access: { secret: 'support' },
    params,
    reply: LintReport,
    run: async (ctx, { params }) => lintTemplates(ctx, await getCampaign(ctx, params.campaignId)),
  }),
  route({
    method: 'POST',
    path: '/api/client/campaigns/{campaignId}/test',
    summary: 'Send a campaign to a few people who check it.',
    description:
      'It goes to the provider of the campaign at once, with `[Test]` before the subject, and is counted nowhere. Suppressed addresses get nothing.',
    access: { secret: 'editor' },
    bucket: 'egress',
    params,
    body: TestInput,
    reply: TestReport,
    run: (ctx, { params, body }) => sendTests(ctx, params.campaignId, body),
  }),
]
