/** The templates of all campaigns in one list, for those who look for one by what it says. */
import { Type } from 'typebox'
import { mapPage } from '../../infra/http/paging.ts'
import { route } from '../../infra/http/route.ts'
import type { CampaignId } from '../../lib/ids.ts'
import { CHANNELS, Exact, IdOf, Line, OneOf, Page, Timestamp } from '../../lib/shapes.ts'
import { VariantName, variantName } from '../templates/index.ts'
import { listAllTemplates, templateListing } from './all-templates.queries.ts'

const ListedTemplate = Exact(
  {
    id: IdOf(),
    campaign_id: IdOf<CampaignId>(),
    campaign_name: Type.String({ description: 'The name of its campaign.' }),
    campaign_state: Type.String({ description: 'The state of its campaign.' }),
    channel: OneOf(CHANNELS),
    locale: Type.String(),
    variant: VariantName,
    summary: Type.String({ description: 'The subject, title or address, or the beginning of the text, with its Liquid.' }),
    updated_at: Timestamp,
  },
  { title: 'ListedTemplate' },
)

const LOCALE_LENGTH_MAX = 255

export const allTemplateRoutes = [
  route({
    method: 'GET',
    path: '/api/client/templates',
    summary: 'List the templates of all campaigns.',
    description: 'Without their content, which the path of the campaign has. Templates of archived campaigns are left out.',
    access: { secret: 'support' },
    list: templateListing,
    query: Exact({
      channel: Type.Optional(OneOf(CHANNELS, { description: 'The channel.' })),
      locale: Type.Optional(Line(LOCALE_LENGTH_MAX, { description: 'The language, as a BCP-47 tag.' })),
    }),
    reply: Page(ListedTemplate),
    run: async (ctx, { page, query }) =>
      mapPage(await listAllTemplates(ctx, page, query), ({ variant, ...row }) => ({ ...row, variant: variantName(variant) })),
  }),
]
