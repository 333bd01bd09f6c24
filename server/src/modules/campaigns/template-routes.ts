import { Type } from 'typebox'
import { audits } from '../../infra/http/audited.ts'
import { route } from '../../infra/http/route.ts'
import type { CampaignId } from '../../lib/ids.ts'
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
} from '../templates/index.ts'
import { getTemplate, listTemplates, prepareTemplate, putTemplate, removeTemplate } from './edit-templates.ts'
import { getCampaign } from './service.ts'
import { placeIn, templateIdOf, templateLocale, templateQuery } from './template-place.ts'
import { sendTests } from './test-sends.ts'

const params = { campaignId: pathId<CampaignId>() }

export const templateAudit = audits('template', {
  keyOf: ({ params, query }) => placeIn(params, query),
  idOf: templateIdOf,
  read: getTemplate,
})

export const versionedTemplate = { of: ({ data }: Template) => data }

/** The templates of a campaign: reading, writing, previewing, checking and testing them. */
export const templateRoutes = [
  route({
    method: 'GET',
    path: '/api/client/campaigns/{campaignId}/templates',
    summary: 'List the templates of a campaign, one for each locale and variant.',
    description: 'A user gets the template of the locale that fits best.',
    access: { secret: 'support' },
    params,
    reply: Exact({ results: Type.Array(Template) }),
    run: async (ctx, { params }) => ({ results: await listTemplates(ctx, params.campaignId) }),
  }),
  route({
    method: 'GET',
    path: '/api/client/campaigns/{campaignId}/templates/{locale}',
    summary: 'Read the template of a locale.',
    description: 'Returns only the template of this locale, in any spelling, and this variant, without a fallback.',
    access: { secret: 'support' },
    versioned: versionedTemplate,
    params: { ...params, locale: templateLocale },
    query: templateQuery,
    reply: Template,
    run: (ctx, { params, query }) => getTemplate(ctx, placeIn(params, query)),
  }),
  route({
    method: 'PUT',
    path: '/api/client/campaigns/{campaignId}/templates/{locale}',
    summary: 'Create or replace the template of a locale.',
    description:
      'Saving compiles MJML and generates the plain text. A template that does not compile is refused; other problems are listed in `findings`.',
    access: { secret: 'editor' },
    audit: templateAudit('updated'),
    versioned: versionedTemplate,
    params: { ...params, locale: templateLocale },
    query: templateQuery,
    body: Content,
    reply: SavedTemplate,
    prepare: (ctx, { params, body }) => prepareTemplate(ctx, params, body),
    run: (ctx, { params, query, prepared }) => putTemplate(ctx, placeIn(params, query), prepared),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/campaigns/{campaignId}/templates/{locale}',
    summary: 'Remove the template of a locale.',
    description: 'Messages that were sent do not change.',
    access: { secret: 'editor' },
    audit: templateAudit('deleted'),
    versioned: versionedTemplate,
    params: { ...params, locale: templateLocale },
    query: templateQuery,
    status: 204,
    run: (ctx, { params, query }) => removeTemplate(ctx, placeIn(params, query)),
  }),
  route({
    method: 'POST',
    path: '/api/client/campaigns/{campaignId}/preview',
    summary: 'Preview a message.',
    description:
      'Renders a stored template, or the one in `template`, which is not saved. The values come from `user` (only attributes that this key may read), from `data`, or are made up. Unsubscribe links in a preview do not work.',
    access: { secret: 'support' },
    audit: { none: 'nothing is saved' },
    params,
    body: PreviewInput,
    reply: Preview,
    run: async (ctx, { params, body }) => previewTemplate(ctx, await getCampaign(ctx, params.campaignId), body),
  }),
  route({
    method: 'GET',
    path: '/api/client/campaigns/{campaignId}/lint',
    summary: 'Check the templates of a campaign for problems.',
    description: 'One result per template. A template without problems has no `findings`.',
    access: { secret: 'support' },
    params,
    reply: LintReport,
    run: async (ctx, { params }) => lintTemplates(ctx, await getCampaign(ctx, params.campaignId)),
  }),
  route({
    method: 'POST',
    path: '/api/client/campaigns/{campaignId}/test',
    summary: 'Send test messages of a campaign to a few recipients.',
    description:
      'The provider of the campaign sends them at once, with `[Test]` before the subject. Apart from that, they are the messages that users would get, with headers, tracked links and pixel. They are not counted: links redirect, and unsubscribe links show the page and change nothing. Nothing is sent to suppressed addresses. A key with the role `editor` reaches only the `test_recipients` of the project, unless the provider sends nothing, like the sandbox.',
    access: { secret: 'editor' },
    audit: { none: 'test messages are not configuration' },
    bucket: 'egress',
    params,
    body: TestInput,
    records: 'around_call',
    reply: TestReport,
    run: (ctx, { params, body }) => sendTests(ctx, params.campaignId, body),
  }),
]
