import { Type } from 'typebox'
import { audits } from '../../infra/http/audited.ts'
import { route } from '../../infra/http/route.ts'
import type { CampaignId } from '../../lib/ids.ts'
import { pathId } from '../../lib/path-params.ts'
import { Exact } from '../../lib/shapes.ts'
import {
  ATTACHMENT_BODY_BYTES_MAX,
  pathAttachment,
  TemplateAttachment,
  TemplateAttachmentInput,
  TemplateAttachmentWhole,
  variantNumber,
} from '../templates/index.ts'
import {
  attachmentState,
  getTemplateAttachment,
  listTemplateAttachments,
  putTemplateAttachment,
  removeTemplateAttachment,
} from './template-attachments.ts'
import { placeIn, templateIdOf, templateLocale, templateQuery } from './template-place.ts'

const params = { campaignId: pathId<CampaignId>(), locale: templateLocale }

type Named = { params: { campaignId: CampaignId; locale: string }; query: { variant?: string | undefined } }

const placeOf = ({ params: { campaignId, locale }, query }: Named) => ({ campaignId, locale, variant: variantNumber(query.variant) })

const attachmentAudit = audits('template_attachment', {
  keyOf: ({ params, query }) => ({ ...placeIn(params, query), name: String(params.name) }),
  idOf: ({ name, ...place }) => `${templateIdOf(place)}/${name}`,
  read: attachmentState,
})

/** The files of email templates. */
export const attachmentRoutes = [
  route({
    method: 'GET',
    path: '/api/client/campaigns/{campaignId}/templates/{locale}/attachments',
    summary: 'List the attachments of a template.',
    description: 'Includes inline images, which have a `content_id`. The contents of the files are left out.',
    access: { secret: 'support' },
    params,
    query: templateQuery,
    reply: Exact({ results: Type.Array(TemplateAttachment) }),
    run: async (ctx, request) => ({ results: await listTemplateAttachments(ctx, placeOf(request)) }),
  }),
  route({
    method: 'GET',
    path: '/api/client/campaigns/{campaignId}/templates/{locale}/attachments/{name}',
    summary: 'Read an attachment of a template with its content.',
    description: 'The content is in base64.',
    access: { secret: 'support' },
    params: { ...params, name: pathAttachment },
    query: templateQuery,
    reply: TemplateAttachmentWhole,
    run: (ctx, request) => getTemplateAttachment(ctx, placeOf(request), request.params.name),
  }),
  route({
    method: 'PUT',
    path: '/api/client/campaigns/{campaignId}/templates/{locale}/attachments/{name}',
    summary: 'Create or replace an attachment or an inline image of a template.',
    description:
      'Every email from the template includes the file. With `content_id`, the file is shown wherever the HTML refers to `cid:` and this id. A template can have up to 10 attachments, with a total of at most 10 MB and no more than the campaign’s provider accepts. They are copied with the campaign and deleted with the template.',
    access: { secret: 'editor' },
    audit: attachmentAudit('updated'),
    params: { ...params, name: pathAttachment },
    query: templateQuery,
    body: TemplateAttachmentInput,
    bodyBytesMax: ATTACHMENT_BODY_BYTES_MAX,
    reply: TemplateAttachment,
    run: (ctx, request) => putTemplateAttachment(ctx, placeOf(request), request.params.name, request.body),
  }),
  route({
    method: 'DELETE',
    path: '/api/client/campaigns/{campaignId}/templates/{locale}/attachments/{name}',
    summary: 'Delete an attachment of a template.',
    description: 'Messages sent from now on do not include it.',
    access: { secret: 'editor' },
    audit: attachmentAudit('deleted'),
    params: { ...params, name: pathAttachment },
    query: templateQuery,
    status: 204,
    run: (ctx, request) => removeTemplateAttachment(ctx, placeOf(request), request.params.name),
  }),
]
