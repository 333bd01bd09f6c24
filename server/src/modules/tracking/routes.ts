import { type Route, route } from '../../infra/http/route.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { CampaignId } from '../../lib/ids.ts'
import { pathId } from '../../lib/path-params.ts'
import type { DomainResolver } from './domains/dns-check.ts'
import { systemResolver } from './domains/resolver.ts'
import { domainRoutes } from './domains/routes.ts'
import { linksOfCampaign } from './links/links.ts'
import { CampaignLinks } from './schema.ts'

type Parts = {
  /** Throws 404 when the project has no such campaign. */
  requireCampaign(ctx: ProjectCtx, id: CampaignId): Promise<unknown>
  resolver?: () => DomainResolver
}

export const trackingRoutes = ({ requireCampaign, resolver = systemResolver }: Parts): Route[] => [
  route({
    method: 'GET',
    path: '/api/client/campaigns/{campaignId}/links',
    summary: 'List the links of a campaign with what came of each.',
    description:
      'Counts are exact and a few seconds old. What scanners and privacy proxies did is counted apart. Links of former templates stay. At most the first 1000 links are shown.',
    access: { secret: 'support' },
    params: { campaignId: pathId<CampaignId>() },
    reply: CampaignLinks,
    run: async (ctx, { params }) => {
      await requireCampaign(ctx, params.campaignId)
      return linksOfCampaign(ctx, params.campaignId)
    },
  }),
  ...domainRoutes(resolver),
]
