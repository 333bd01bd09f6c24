import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ListId, ProjectId } from '../../../lib/ids.ts'
import { IdOf } from '../../../lib/shapes.ts'

const ProjectRow = Type.Object({ project_id: IdOf<ProjectId>() })

/** A list that was created on the day has no size at its start. */
const hadSize = (day: string) => sql`l.archived_at is null and l.live_version_id is not null and l.created_at < ${day}::date`

/** Some projects, without these, with lists for which no sizes of a day are stored. */
export const projectsWithoutSizes = (ctx: Ctx, day: string, without: ProjectId[], limit: number) =>
  ctx.db.many(
    ProjectRow,
    sql`select distinct l.project_id from lists l
        where ${hadSize(day)}
          and l.project_id <> all(${without}::bigint[])
          and not exists (select from list_days d where d.project_id = l.project_id and d.day = ${day}::date)
        order by l.project_id
        limit ${limit}`,
  )

/** Stores how many users each list has. Lists whose size of the day is stored keep it. */
export const insertSizes = (ctx: InTx, day: string) =>
  ctx.db.run(
    sql`insert into list_days (project_id, list_id, day, users)
        select l.project_id, l.id, ${day}::date, coalesce(sum(c.members), 0)
        from lists l
        left join list_counts c on c.project_id = ${ctx.projectId} and c.version_id = l.live_version_id
        where l.project_id = ${ctx.projectId} and ${hadSize(day)}
        group by l.project_id, l.id
        on conflict do nothing`,
  )

/** Deletes some sizes of days before this one. */
export const deleteSizes = (ctx: InTx, before: Date, limit: number): Promise<number> =>
  ctx.db.run(
    sql`delete from list_days
        where project_id = ${ctx.projectId} and (list_id, day) in (
          select list_id, day from list_days
          where project_id = ${ctx.projectId} and day < ${before}::timestamptz::date
          order by day
          limit ${limit})`,
  )

const SizeRow = Type.Object({ list_id: IdOf<ListId>(), day: Type.String(), users: Type.Integer() })

/** The sizes of lists that are not archived, since a day, by list and day. */
export const sizesOf = (ctx: ProjectCtx, ids: ListId[], since: string) =>
  ctx.db.many(
    SizeRow,
    sql`select d.list_id, d.day::text as day, d.users
        from list_days d
        join lists l on l.project_id = ${ctx.projectId} and l.id = d.list_id and l.archived_at is null
        where d.project_id = ${ctx.projectId} and d.list_id = any(${ids}::bigint[]) and d.day >= ${since}::date
        order by d.list_id, d.day`,
  )

const TagRow = Type.Object({ tag: Type.String(), lists: Type.Integer() })

/** The tags of lists that are not archived, the most used first. */
export const tagsOf = (ctx: ProjectCtx, limit: number) =>
  ctx.db.many(
    TagRow,
    sql`select t.tag, count(*) as lists
        from lists l cross join unnest(l.tags) as t(tag)
        where l.project_id = ${ctx.projectId} and l.archived_at is null
        group by t.tag
        order by lists desc, t.tag
        limit ${limit}`,
  )
