import { Type } from 'typebox'
import type { InTx, ProjectCtx } from '../../infra/ctx.ts'
import { sql } from '../../infra/db.ts'
import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/paging.ts'
import type { CampaignId, ListId, SubscriptionId } from '../../lib/ids.ts'
import { CHANNELS, IdOf, OneOf } from '../../lib/shapes.ts'
import { type CampaignFields, CampaignRow, TemplateRow } from './schema.ts'

// The driver reads arrays of bigint as strings, and jsonb as numbers.
const columns = sql`id, project_id, type, name, channel, subscription_id, provider_id, state, event_name,
  to_jsonb(list_ids) as list_ids, to_jsonb(exclusion_list_ids) as exclusion_list_ids, tags, send_in_user_timezone, send_at,
  custom_domain_id, created_at, updated_at`

export const campaignListing = listing({
  resource: 'campaigns',
  sorts: {
    id: { column: sql`id`, type: 'bigint' },
    name: { column: sql`name`, type: 'text' },
    type: { column: sql`type`, type: 'text' },
    channel: { column: sql`channel`, type: 'text' },
    state: { column: sql`state`, type: 'text' },
    send_at: { column: sql`send_at`, type: 'text', nullable: true },
    created_at: { column: sql`created_at`, type: 'timestamptz' },
    updated_at: { column: sql`updated_at`, type: 'timestamptz' },
  },
  defaultSort: 'created_at',
  defaultDirection: 'desc',
  search: [sql`name`, sql`array_to_string(tags, E'\x1f')`],
  searchedFields: 'name, tags',
})

export const listCampaigns = (ctx: ProjectCtx, page: PageRequest): Promise<PageOf<CampaignRow>> =>
  pageOf(
    ctx.db,
    CampaignRow,
    campaignListing,
    page,
    { select: columns, from: sql`campaigns`, where: sql`project_id = ${ctx.projectId} and archived_at is null` },
    ctx.config.LIST_ALL_MAX,
  )

export const findCampaign = (ctx: ProjectCtx, id: CampaignId) =>
  ctx.db.first(
    CampaignRow,
    sql`select ${columns} from campaigns where project_id = ${ctx.projectId} and id = ${id} and archived_at is null`,
  )

/** The live ones among these campaigns, in no order. */
export const findCampaigns = (ctx: ProjectCtx, ids: CampaignId[]) =>
  ctx.db.all(
    CampaignRow,
    sql`select ${columns} from campaigns
        where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) and archived_at is null`,
  )

/** The campaign, held until the transaction ends: its state and templates are decided about one at a time. */
export const lockCampaign = (ctx: InTx, id: CampaignId) =>
  ctx.db.first(
    CampaignRow,
    sql`select ${columns} from campaigns
        where project_id = ${ctx.projectId} and id = ${id} and archived_at is null
        for update`,
  )

export const insertCampaign = (ctx: ProjectCtx, { type, channel }: Pick<CampaignRow, 'type' | 'channel'>, fields: CampaignFields) =>
  ctx.db.first(
    CampaignRow,
    sql`insert into campaigns (project_id, type, channel, name, subscription_id, provider_id, state, event_name, list_ids, exclusion_list_ids,
                               tags, send_in_user_timezone, send_at, custom_domain_id, created_at, updated_at)
        values (${ctx.projectId}, ${type}, ${channel}, ${fields.name}, ${fields.subscription_id}, ${fields.provider_id}, ${fields.state},
                ${fields.event_name}, ${fields.list_ids}::bigint[], ${fields.exclusion_list_ids}::bigint[], ${fields.tags}::text[],
                ${fields.send_in_user_timezone}, ${fields.send_at}, ${fields.custom_domain_id}, ${ctx.clock.now()}, ${ctx.clock.now()})
        returning ${columns}`,
  )

/** Writes a campaign that this transaction holds. */
export const saveCampaign = (ctx: InTx, id: CampaignId, fields: CampaignFields) =>
  ctx.db.first(
    CampaignRow,
    sql`update campaigns
        set name = ${fields.name}, subscription_id = ${fields.subscription_id}, provider_id = ${fields.provider_id}, state = ${fields.state},
            event_name = ${fields.event_name}, list_ids = ${fields.list_ids}::bigint[],
            exclusion_list_ids = ${fields.exclusion_list_ids}::bigint[], tags = ${fields.tags}::text[],
            send_in_user_timezone = ${fields.send_in_user_timezone}, send_at = ${fields.send_at},
            custom_domain_id = ${fields.custom_domain_id}, updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and id = ${id} and archived_at is null
        returning ${columns}`,
  )

/** Takes a campaign out of every read; one that is under way ends as aborted. */
export const archiveCampaign = (ctx: InTx, id: CampaignId, state: CampaignRow['state']) =>
  ctx.db.run(
    sql`update campaigns set archived_at = ${ctx.clock.now()}, state = ${state}, updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and id = ${id} and archived_at is null`,
  )

const TriggerRow = Type.Object({
  id: IdOf<CampaignId>(),
  event_name: Type.String(),
  channel: OneOf(CHANNELS),
  subscription_id: IdOf<SubscriptionId>(),
})

/** The running trigger campaigns that fire on any of these events. */
export const runningTriggers = (ctx: ProjectCtx, eventNames: string[]) =>
  ctx.db.all(
    TriggerRow,
    sql`select id, event_name, channel, subscription_id from campaigns
        where project_id = ${ctx.projectId} and event_name = any(${eventNames}::text[])
          and type = 'trigger' and state = 'running' and archived_at is null
        order by id`,
  )

const NamedRow = Type.Object({ name: Type.String() })

/** Campaigns that go out to a list, or spare it, sooner or later. */
export const campaignsOfList = (ctx: ProjectCtx, listId: ListId) =>
  ctx.db.all(
    NamedRow,
    sql`select name from campaigns
        where project_id = ${ctx.projectId} and archived_at is null and state in ('scheduled', 'loading', 'running', 'aborting')
          and ${listId} = any(list_ids || exclusion_list_ids)
        order by id limit 10`,
  )

const templateColumns = sql`id, campaign_id, locale, data, created_at, updated_at`

/** The templates of these campaigns, oldest first. */
export const templatesOf = (ctx: ProjectCtx, campaignIds: CampaignId[]) =>
  ctx.db.all(
    TemplateRow,
    sql`select ${templateColumns} from campaign_templates
        where project_id = ${ctx.projectId} and campaign_id = any(${campaignIds}::bigint[])
        order by id`,
  )

const Count = Type.Object({ count: Type.Integer() })

export const countTemplates = async (ctx: ProjectCtx, campaignId: CampaignId): Promise<number> =>
  (
    await ctx.db.first(
      Count,
      sql`select count(*) as count from campaign_templates where project_id = ${ctx.projectId} and campaign_id = ${campaignId}`,
    )
  )?.count ?? 0

/** Creates or replaces the template of a locale; `updated_at` moves only when it says something else. */
export const saveTemplate = (ctx: InTx, campaignId: CampaignId, locale: string, data: Record<string, unknown>) =>
  ctx.db.first(
    TemplateRow,
    sql`insert into campaign_templates as t (project_id, campaign_id, locale, data, created_at, updated_at)
        values (${ctx.projectId}, ${campaignId}, ${locale}, ${JSON.stringify(data)}::jsonb, ${ctx.clock.now()}, ${ctx.clock.now()})
        on conflict (campaign_id, locale) do update
        set data = excluded.data, updated_at = case when t.data = excluded.data then t.updated_at else excluded.updated_at end
        returning ${templateColumns}`,
  )

export const deleteTemplate = (ctx: InTx, campaignId: CampaignId, locale: string) =>
  ctx.db.run(sql`delete from campaign_templates where project_id = ${ctx.projectId} and campaign_id = ${campaignId} and locale = ${locale}`)

export const copyTemplates = (ctx: InTx, from: CampaignId, into: CampaignId) =>
  ctx.db.run(
    sql`insert into campaign_templates (project_id, campaign_id, locale, data, created_at, updated_at)
        select ${ctx.projectId}, ${into}, locale, data, ${ctx.clock.now()}, ${ctx.clock.now()}
        from campaign_templates
        where project_id = ${ctx.projectId} and campaign_id = ${from}
        order by id`,
  )
