import { type Static, Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { sql } from '../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { CampaignId } from '../../lib/ids.ts'
import { normaliseLocale } from '../../lib/locales.ts'
import { CHANNELS, IdOf, Instant, OneOf } from '../../lib/shapes.ts'

const ListedRow = Type.Object({
  id: IdOf(),
  campaign_id: IdOf<CampaignId>(),
  campaign_name: Type.String(),
  campaign_state: Type.String(),
  channel: OneOf(CHANNELS),
  locale: Type.String(),
  variant: Type.Integer(),
  summary: Type.String(),
  updated_at: Instant,
})
export type ListedRow = Static<typeof ListedRow>

export const templateListing = listing({
  resource: 'templates',
  sorts: {
    id: { column: sql`id`, type: 'bigint' },
    campaign_name: { column: sql`campaign_name`, type: 'text' },
    updated_at: { column: sql`updated_at`, type: 'timestamptz' },
  },
  defaultSort: 'updated_at',
  defaultDirection: 'desc',
  search: [sql`campaign_name`, sql`summary`],
  searchedFields: 'campaign_name, summary',
})

const SUMMARY_LENGTH_MAX = 200

/** A page of the templates of campaigns that are not archived. */
export const listAllTemplates = (
  ctx: ProjectCtx,
  page: PageRequest,
  filter: { channel?: string; locale?: string },
): Promise<PageOf<ListedRow>> =>
  pageOf(ctx, ListedRow, templateListing, page, {
    select: sql`id, campaign_id, campaign_name, campaign_state, channel, locale, variant, summary, updated_at`,
    from: sql`(select t.id, t.campaign_id, c.name as campaign_name, c.state as campaign_state, c.channel, t.locale, t.variant, t.updated_at,
                      left(coalesce(t.data ->> 'subject', t.data ->> 'title', t.data ->> 'endpoint', t.data ->> 'body', ''), ${SUMMARY_LENGTH_MAX}) as summary
               from campaign_templates t
               join campaigns c on c.project_id = t.project_id and c.id = t.campaign_id
               where t.project_id = ${ctx.projectId} and c.project_id = ${ctx.projectId} and c.archived_at is null) t`,
    where: sql`${filter.channel === undefined ? sql`true` : sql`channel = ${filter.channel}`} and ${filter.locale === undefined ? sql`true` : sql`lower(locale) = lower(${normaliseLocale(filter.locale)}::text)`}`,
  })
