/** The templates of all campaigns in one list, for those who look for one by what it says. */
import { Type } from 'typebox'
import { mapPage } from '../../infra/http/paging.ts'
import { route } from '../../infra/http/route.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { CampaignId, JourneyId } from '../../lib/ids.ts'
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
    journeys: Type.Array(Exact({ id: IdOf<JourneyId>(), name: Type.String() }), {
      description: 'The live journeys that send its campaign.',
    }),
    updated_at: Timestamp,
  },
  { title: 'ListedTemplate' },
)

const LOCALE_LENGTH_MAX = 255

/** The live journeys that send these campaigns, found by a module that depends on this one. */
export type JourneysSending = (ctx: ProjectCtx, ids: CampaignId[]) => Promise<Map<CampaignId, { id: JourneyId; name: string }[]>>

export const allTemplateRoutes = (journeysSending: JourneysSending) => [
  route({
    method: 'GET',
    path: '/api/client/templates',
    summary: 'List the templates of all campaigns.',
    description: 'The content is left out; getTemplate returns it. Templates of archived campaigns are left out.',
    access: { secret: 'support' },
    list: templateListing,
    query: Exact({
      channel: Type.Optional(OneOf(CHANNELS, { description: 'The channel.' })),
      locale: Type.Optional(Line(LOCALE_LENGTH_MAX, { format: 'locale', description: 'The language, as a BCP-47 tag.' })),
    }),
    reply: Page(ListedTemplate),
    run: async (ctx, { page, query }) => {
      const found = await listAllTemplates(ctx, page, query)
      const journeys = await journeysSending(ctx, [...new Set(found.results.map(({ campaign_id }) => campaign_id))])
      return mapPage(found, ({ variant, ...row }) => ({
        ...row,
        variant: variantName(variant),
        journeys: journeys.get(row.campaign_id) ?? [],
      }))
    },
  }),
]
