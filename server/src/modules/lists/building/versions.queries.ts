import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { Ctx, InTx } from '../../../infra/runtime/ctx.ts'
import type { ListId, ListVersionId, ProjectId } from '../../../lib/ids.ts'
import { IdOf } from '../../../lib/shapes.ts'
import type { Rule } from '../../rules/index.ts'

export const retireUnfinished = (ctx: InTx, listId: ListId) =>
  ctx.db.run(
    sql`update list_versions set status = 'retired'
        where project_id = ${ctx.projectId} and list_id = ${listId} and status in ('filling', 'building')`,
  )

/** Keeps the version of a static list as it is, and retires the others. */
export const archiveLive = (ctx: InTx, listId: ListId) =>
  ctx.db.run(
    sql`with versions as (
          update list_versions set status = case when status = 'live' and rule is null then 'archived' else 'retired' end
          where project_id = ${ctx.projectId} and list_id = ${listId} and status <> 'retired'
        )
        update lists set live_version_id = null where project_id = ${ctx.projectId} and id = ${listId}`,
  )

/** Keeps a rule, without members. */
export const archiveRule = (ctx: InTx, listId: ListId, rule: Rule) =>
  ctx.db.run(
    sql`insert into list_versions (project_id, list_id, rule, status, created_at)
        values (${ctx.projectId}, ${listId}, ${JSON.stringify(rule)}::jsonb, 'archived', ${ctx.clock.now()})`,
  )

/** Restores the version of an archived static list, with its members. Returns 0 when none was kept. */
export const restoreLive = (ctx: InTx, listId: ListId) =>
  ctx.db.run(
    sql`with version as (
          update list_versions set status = 'live'
          where project_id = ${ctx.projectId} and list_id = ${listId} and status = 'archived'
          returning id
        )
        update lists set live_version_id = version.id from version where lists.project_id = ${ctx.projectId} and lists.id = ${listId}`,
  )

export const retireArchived = (ctx: InTx, listId: ListId) =>
  ctx.db.run(
    sql`update list_versions set status = 'retired' where project_id = ${ctx.projectId} and list_id = ${listId} and status = 'archived'`,
  )

export const insertBuilding = (ctx: InTx, listId: ListId, rule: Rule, trackers: number) =>
  ctx.db.run(
    sql`insert into list_versions (project_id, list_id, rule, tracker_ids, status, created_at)
        select ${ctx.projectId}, ${listId}, ${JSON.stringify(rule)}::jsonb,
               array(select nextval('list_tracker_ids') from generate_series(1, ${trackers}::int)), 'building', ${ctx.clock.now()}`,
  )

export const insertLive = (ctx: InTx, listId: ListId) =>
  ctx.db.run(
    sql`with version as (
          insert into list_versions (project_id, list_id, status, created_at, live_at)
          values (${ctx.projectId}, ${listId}, 'live', ${ctx.clock.now()}, ${ctx.clock.now()})
          returning id
        )
        update lists set live_version_id = (select id from version) where project_id = ${ctx.projectId} and id = ${listId}`,
  )

/** Replaces the live version of a list. */
export const makeLive = (ctx: InTx, id: ListVersionId, listId: ListId) =>
  ctx.db.run(
    sql`with others as (
          update list_versions set status = 'retired'
          where project_id = ${ctx.projectId} and list_id = ${listId} and id <> ${id} and status = 'live'
        ), this as (
          update list_versions set status = 'live', live_at = ${ctx.clock.now()} where project_id = ${ctx.projectId} and id = ${id}
        )
        update lists set live_version_id = ${id} where project_id = ${ctx.projectId} and id = ${listId}`,
  )

const ProjectRow = Type.Object({ project_id: IdOf<ProjectId>() })

export const projectsWithRules = (ctx: Ctx) =>
  ctx.db.many(
    ProjectRow,
    sql`select distinct project_id from list_versions where status not in ('archived', 'retired') and rule is not null order by 1`,
  )
