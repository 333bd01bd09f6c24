import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { Ctx } from '../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { Count, IdOf } from '../../lib/shapes.ts'

const ProjectRow = Type.Object({ project_id: IdOf<ProjectId>() })

/** The projects with more than `most` counts of names that their totals do not include. */
export const projectsToTotal = async (ctx: Ctx, most: number): Promise<ProjectId[]> => {
  const rows = await ctx.db.many(
    ProjectRow,
    sql`select project_id from event_names where not is_totalled group by project_id having count(*) > ${most} order by project_id`,
  )
  return rows.map(({ project_id }) => project_id)
}

/** Adds what was counted since to the totals of these projects. Rows that a batch is writing are left for later. */
export const addToTotals = (ctx: Ctx, projectIds: ProjectId[], most: number): Promise<number> =>
  ctx.db.value(
    Count,
    sql`with counted as materialized (
          select project_id, name, partition, events - totalled as added from event_names
          where project_id = any(${projectIds}::bigint[]) and not is_totalled
          limit ${most}
          for update skip locked
        ), noted as (
          update event_names n set totalled = n.events from counted c
          where n.project_id = c.project_id and n.name = c.name and n.partition = c.partition
        ), added as (
          insert into event_name_totals as t (project_id, name, events)
          select project_id, name, sum(added)::bigint from counted group by project_id, name order by project_id, name
          on conflict (project_id, name) do update set events = t.events + excluded.events
        )
        select count(*) as rows from counted`,
  )
