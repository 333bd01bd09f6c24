/** Counts of journeys and their steps: sums of the differences that batches append. */
import { type Static, Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { Ctx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../../lib/shapes.ts'

const JourneyCountRow = Type.Object({
  journey_id: IdOf<JourneyId>(),
  entered: Type.Integer(),
  completed: Type.Integer(),
  exited: Type.Integer(),
  at: Instant,
})
export type JourneyCountRow = Static<typeof JourneyCountRow>

/** How many entered and left these journeys. Journeys without entrances are left out. */
export const countsOfJourneys = (ctx: ProjectCtx, ids: JourneyId[]) =>
  ctx.db.many(
    JourneyCountRow,
    sql`select journey_id, coalesce(sum(users) filter (where what = 'entered'), 0)::bigint as entered,
               coalesce(sum(users) filter (where what = 'completed'), 0)::bigint as completed,
               coalesce(sum(users) filter (where what = 'exited'), 0)::bigint as exited, max(at) as at
        from journey_counts
        where project_id = ${ctx.projectId} and journey_id = any(${ids}::bigint[])
        group by journey_id
        having coalesce(sum(users) filter (where what = 'entered'), 0) > 0`,
  )

const CountRow = Type.Object({
  what: Type.String(),
  version: Nullable(Type.Integer()),
  external_id: Nullable(Type.String()),
  path: Nullable(Type.String()),
  reason: Nullable(Type.String()),
  arm: Nullable(Type.String()),
  users: Type.Integer(),
})
export type CountRow = Static<typeof CountRow>

/** All counts of a journey. */
export const countsOf = (ctx: ProjectCtx, journeyId: JourneyId) =>
  ctx.db.many(
    CountRow,
    sql`select c.what, c.version, s.external_id, c.path, c.reason, c.arm, c.users
        from (select what, version, step_id, path, reason, arm, sum(users)::bigint as users from journey_counts
              where project_id = ${ctx.projectId} and journey_id = ${journeyId}
              group by what, version, step_id, path, reason, arm
              having sum(users) <> 0) c
        left join journey_steps s on s.project_id = ${ctx.projectId} and s.journey_id = ${journeyId} and s.id = c.step_id
        order by c.what, c.version, s.id, c.path, c.reason, c.arm`,
  )

const Folded = Type.Object({ spared: Type.Integer() })

/** Adds up the counts of journeys with more than `rowsMax` rows. Sums and the newest time stay the same. Returns by how many rows. */
export const foldCounts = async (ctx: Ctx, rowsMax: number, journeysMax: number): Promise<number> => {
  const row = await ctx.db.first(
    Folded,
    sql`with long as (
          select project_id, journey_id from journey_counts
          group by project_id, journey_id
          having count(*) > ${rowsMax}
          limit ${journeysMax}
        ), taken as (
          delete from journey_counts t
          where t.ctid = any(array(select t.ctid from long join journey_counts t using (project_id, journey_id) for update of t skip locked))
          returning project_id, journey_id, what, version, step_id, path, reason, arm, users, at
        ), folded as (
          insert into journey_counts (project_id, journey_id, what, version, step_id, path, reason, arm, users, at)
          select project_id, journey_id, what, version, step_id, path, reason, arm, sum(users), max(at)
          from taken
          group by project_id, journey_id, what, version, step_id, path, reason, arm
          returning 1
        )
        select (select count(*) from taken) - (select count(*) from folded) as spared`,
  )
  return row?.spared ?? 0
}
