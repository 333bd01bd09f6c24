import { type Static, Type } from 'typebox'
import { ArchivedQuery, Exact } from '../../lib/shapes.ts'

/** What campaigns can be filtered by. */
export const CampaignQuery = Exact({
  ...ArchivedQuery.properties,
  provider_id: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,15}$',
      problem: 'is not an id',
      description:
        'Only campaigns that name this provider. Campaigns that use the default provider of their channel do not name a provider, so they are not listed.',
    }),
  ),
})
export type CampaignQuery = Static<typeof CampaignQuery>
