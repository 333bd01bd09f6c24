import { Type } from 'typebox'
import { fence, type Sql, sql } from '../../infra/postgres/db.ts'
import { callRows, type JointCall, jointMany } from '../../infra/postgres/joint.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { CampaignId } from '../../lib/ids.ts'
import { Flag } from '../../lib/shapes.ts'
import { TemplateRow } from './schema.ts'

const columns = sql`id, campaign_id, locale, variant, data, compiled, attachment_bytes, created_at, updated_at`

/** The templates of these campaigns, oldest first. */
export const templatesOf = (ctx: ProjectCtx, campaignIds: CampaignId[]) => findTemplates(ctx, ctx.projectId, campaignIds)

const findTemplates = jointMany(
  TemplateRow,
  (_, calls: JointCall<CampaignId[]>[]) =>
    sql`select q.call, t.*
        from ${callRows(calls, sql`ids bigint[]`, (ids) => ({ ids }))}
        cross join lateral (
          select ${columns} from campaign_templates where project_id = q.project_id and campaign_id = any(q.ids) ${fence}
        ) t
        order by q.call, t.id`,
)

/** So many of the newest templates are looked at. */
const LOOKED_AT = 500

/** Do some of the newest templates contain MJML? Then this server is likely to compile more. */
export const storesMjml = (ctx: Ctx): Promise<boolean> =>
  ctx.db.value(
    Flag,
    sql`select exists (select 1 from (select data from campaign_templates order by project_id desc, id desc limit ${LOOKED_AT}) newest
                       where newest.data ? 'mjml') as stored`,
  )

/** The key of a template. Letters of the locale match in either case, so that each template has one spelling, the first. */
export type TemplatePlace = { campaignId: CampaignId; locale: string; variant: number }

/** Selects the id of the template at this place. Earlier releases created one for each spelling, so the exact one comes first. */
export const idAt = (ctx: ProjectCtx, { campaignId, locale, variant }: TemplatePlace): Sql =>
  sql`select id from campaign_templates
      where project_id = ${ctx.projectId} and campaign_id = ${campaignId} and variant = ${variant}
        and lower(locale) = lower(${locale}::text)
      order by locale = ${locale}::text desc, id limit 1`

type Members = Record<string, unknown>

/** Creates or replaces a template; its campaign is locked. `updated_at` is that of its version: it changes with the content, and only then. */
export const saveTemplate = (ctx: InTx, place: TemplatePlace, data: Members, compiled: Members) =>
  ctx.db.one(
    TemplateRow,
    sql`insert into campaign_templates as t (project_id, campaign_id, locale, variant, data, compiled, created_at, updated_at)
        select ${ctx.projectId}::bigint, ${place.campaignId}::bigint,
               coalesce((select locale from campaign_templates where project_id = ${ctx.projectId} and id = (${idAt(ctx, place)})),
                        ${place.locale}::text),
               ${place.variant}::smallint, ${JSON.stringify(data)}::jsonb, ${JSON.stringify(compiled)}::jsonb, ${ctx.clock.now()}, ${ctx.clock.now()}
        on conflict (project_id, campaign_id, locale, variant) do update
        set data = excluded.data, compiled = excluded.compiled,
            updated_at = case when t.data = excluded.data and t.compiled is not distinct from excluded.compiled
                              then t.updated_at else greatest(excluded.updated_at, t.updated_at + interval '1 millisecond') end
        returning ${columns}`,
  )

export const deleteTemplate = (ctx: InTx, place: TemplatePlace) =>
  ctx.db.run(sql`delete from campaign_templates where project_id = ${ctx.projectId} and id = (${idAt(ctx, place)})`)

/** Copies the templates of a campaign. Their files are copied separately. */
export const copyTemplates = (ctx: InTx, from: CampaignId, into: CampaignId) =>
  ctx.db.run(
    sql`insert into campaign_templates (project_id, campaign_id, locale, variant, data, compiled, attachment_bytes, created_at, updated_at)
        select ${ctx.projectId}, ${into}, locale, variant, data, compiled, attachment_bytes, ${ctx.clock.now()}, ${ctx.clock.now()}
        from campaign_templates
        where project_id = ${ctx.projectId} and campaign_id = ${from}
        order by id`,
  )

const VariantRow = Type.Object({ variant: Type.Integer() })

/** The variants of a campaign that have a template; without variants, 0. */
export const variantsWithTemplate = async (ctx: ProjectCtx, id: CampaignId): Promise<Set<number>> => {
  const rows = await ctx.db.many(
    VariantRow,
    sql`select distinct variant from campaign_templates where project_id = ${ctx.projectId} and campaign_id = ${id}`,
  )
  return new Set(rows.map(({ variant }) => variant))
}
