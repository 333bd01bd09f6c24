import { Type } from 'typebox'
import { type Sql, sql } from '../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { CampaignId } from '../../lib/ids.ts'
import { idAt, type TemplatePlace } from './queries.ts'
import { Content, VersionRow } from './schema.ts'

/** The oldest version is deleted when there are more. */
const VERSIONS_MAX = 50

/** Saves of a member within this time are one version, because an editor saves while its member types. */
const ONE_EDIT_MINUTES = 5

/**
 * Keeps the content of a template that was just saved as its newest version, unless the one before is the same. What is restored continues no
 * edit, and neither does MJML that replaces HTML or the other way around: the version that it replaces is kept.
 */
export const keepVersion = (ctx: InTx, templateId: number, data: Record<string, unknown>, isRestored = false) => {
  const actor = ctx.actor ?? { kind: 'system', id: null, name: null }
  return ctx.db.run(
    sql`with newest as (
          select number, data, begun_at, actor_type, actor_id from template_versions
          where project_id = ${ctx.projectId} and template_id = ${templateId}
          order by number desc limit 1),
        continued as (
          update template_versions v set data = ${JSON.stringify(data)}::jsonb, saved_at = ${ctx.clock.now()}
          from newest n
          where v.project_id = ${ctx.projectId} and v.template_id = ${templateId} and v.number = n.number and ${!isRestored}
            and n.actor_type = 'member' and n.actor_type = ${actor.kind} and n.actor_id = ${actor.id}::bigint
            and (n.data -> 'mjml' is null) = ${data.mjml === undefined}
            and n.begun_at > ${ctx.clock.now()}::timestamptz - make_interval(mins => ${ONE_EDIT_MINUTES})
          returning v.number),
        added as (
          insert into template_versions (project_id, template_id, number, data, actor_type, actor_id, actor_name, begun_at, saved_at)
          select ${ctx.projectId}, ${templateId}, coalesce((select number from newest), 0) + 1, ${JSON.stringify(data)}::jsonb,
                 ${actor.kind}, ${actor.id}::bigint, ${actor.name}, ${ctx.clock.now()}, ${ctx.clock.now()}
          where not exists (select 1 from continued)
            and not exists (select 1 from newest where newest.data = ${JSON.stringify(data)}::jsonb)
          returning number)
        delete from template_versions
        where project_id = ${ctx.projectId} and template_id = ${templateId} and number <= (select number from added) - ${VERSIONS_MAX}`,
  )
}

/** Gives the templates of a copied campaign their first version. */
export const keepFirstVersions = (ctx: InTx, campaignId: CampaignId) =>
  ctx.db.run(
    sql`insert into template_versions (project_id, template_id, number, data, actor_type, actor_id, actor_name, begun_at, saved_at)
        select ${ctx.projectId}, id, 1, data, ${ctx.actor?.kind ?? 'system'}, ${ctx.actor?.id ?? null}::bigint, ${ctx.actor?.name ?? null},
               ${ctx.clock.now()}, ${ctx.clock.now()}
        from campaign_templates
        where project_id = ${ctx.projectId} and campaign_id = ${campaignId}`,
  )

const ofTemplate = (ctx: ProjectCtx, place: TemplatePlace): Sql =>
  sql`project_id = ${ctx.projectId} and template_id = (${idAt(ctx, place)})`

/** The versions of a template, the newest first. */
export const listVersions = (ctx: ProjectCtx, place: TemplatePlace) =>
  ctx.db.many(
    VersionRow,
    sql`select number, actor_type, actor_id, actor_name, saved_at from template_versions
        where ${ofTemplate(ctx, place)}
        order by number desc`,
  )

const WholeRow = Type.Object({ ...VersionRow.properties, data: Content })

export const findVersion = (ctx: ProjectCtx, place: TemplatePlace, number: number) =>
  ctx.db.first(
    WholeRow,
    sql`select number, actor_type, actor_id, actor_name, saved_at, data from template_versions
        where ${ofTemplate(ctx, place)} and number = ${number}`,
  )
