/** Counts of journeys and their steps: sums of the differences that batches append. */
import { type Static, Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { Ctx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../../lib/shapes.ts'
import { registeredSteps } from '../../positions/index.ts'

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
  step_id: Nullable(Type.Integer()),
  path: Nullable(Type.String()),
  reason: Nullable(Type.String()),
  arm: Nullable(Type.String()),
  users: Type.Integer(),
})

/** A count; `external_id` is the key of the step that it is about. */
export type CountRow = Omit<Static<typeof CountRow>, 'step_id'> & { external_id: string | null }

/** All counts of a journey. */
export async function countsOf(ctx: ProjectCtx, journeyId: JourneyId): Promise<CountRow[]> {
  const keys = new Map((await registeredSteps(ctx, journeyId)).map(({ id, external_id }) => [id, external_id]))
  const rows = await sumCounts(ctx, journeyId)
  return rows.map(({ step_id, ...row }) => ({ ...row, external_id: step_id === null ? null : (keys.get(step_id) ?? null) }))
}

const sumCounts = (ctx: ProjectCtx, journeyId: JourneyId) =>
  ctx.db.many(
    CountRow,
    sql`select what, version, step_id, path, reason, arm, sum(users)::bigint as users
        from journey_counts
        where project_id = ${ctx.projectId} and journey_id = ${journeyId}
        group by what, version, step_id, path, reason, arm
        having sum(users) <> 0
        order by what, version, step_id, path, reason, arm`,
  )

const Folded = Type.Object({ spared: Type.Integer() })

/**
 * Adds up the counts of the journeys in which that spares the most rows, more than `sparedMin`. Sums and the newest time stay the same.
 * Different counts are told apart in journeys with more rows than that only, because that sorts them. Returns how many rows fewer there are.
 */
export const foldCounts = async (ctx: Ctx, sparedMin: number, journeysMax: number): Promise<number> => {
  const row = await ctx.db.first(
    Folded,
    sql`with with_many as materialized (
          select project_id, journey_id from journey_counts
          group by project_id, journey_id
          having count(*) > ${sparedMin}
        ), long as (
          select m.project_id, m.journey_id
          from with_many m
          cross join lateral (
            select count(*) - count(distinct (what, version, step_id, path, reason, arm)) as rows
            from journey_counts c
            where c.project_id = m.project_id and c.journey_id = m.journey_id
          ) spared
          where spared.rows > ${sparedMin}
          order by spared.rows desc
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
