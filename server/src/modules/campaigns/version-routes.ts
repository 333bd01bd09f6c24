import { Type } from 'typebox'
import { route } from '../../infra/http/route.ts'
import type { CampaignId } from '../../lib/ids.ts'
import { pathId, pathVersion } from '../../lib/path-params.ts'
import { Exact } from '../../lib/shapes.ts'
import { SavedTemplate, TemplateVersion, TemplateVersionWhole } from '../templates/index.ts'
import { putTemplate } from './edit-templates.ts'
import { placeIn, templateLocale, templateQuery } from './template-place.ts'
import { templateAudit, versionedTemplate } from './template-routes.ts'
import { getTemplateVersion, listTemplateVersions, prepareVersion } from './template-versions.ts'

const params = { campaignId: pathId<CampaignId>(), locale: templateLocale }
const ofVersion = { ...params, version: pathVersion }

/** The versions of a template. */
export const versionRoutes = [
  route({
    method: 'GET',
    path: '/api/client/campaigns/{campaignId}/templates/{locale}/versions',
    summary: 'List the versions of a template.',
    description:
      'Newest first; the newest has the current content. The last 50 are kept. Changes that a member saves in the console within five minutes are one version, unless HTML replaces MJML or the other way around.',
    access: { secret: 'support' },
    params,
    query: templateQuery,
    reply: Exact({ results: Type.Array(TemplateVersion) }),
    run: async (ctx, { params, query }) => ({ results: await listTemplateVersions(ctx, placeIn(params, query)) }),
  }),
  route({
    method: 'GET',
    path: '/api/client/campaigns/{campaignId}/templates/{locale}/versions/{version}',
    summary: 'Read a version of a template with its content.',
    description: 'The content as it was saved.',
    access: { secret: 'support' },
    params: ofVersion,
    query: templateQuery,
    reply: TemplateVersionWhole,
    run: (ctx, { params, query }) => getTemplateVersion(ctx, placeIn(params, query), params.version),
  }),
  route({
    method: 'POST',
    path: '/api/client/campaigns/{campaignId}/templates/{locale}/versions/{version}/restore',
    summary: 'Restore a version of a template.',
    description: 'The content of the version is saved as the newest version. The version that it replaces is kept.',
    access: { secret: 'editor' },
    audit: templateAudit('restored'),
    versioned: versionedTemplate,
    params: ofVersion,
    query: templateQuery,
    reply: SavedTemplate,
    prepare: (ctx, { params, query }) => prepareVersion(ctx, placeIn(params, query), params.version),
    run: (ctx, { params, query, prepared }) => putTemplate(ctx, placeIn(params, query), prepared, true),
  }),
]
