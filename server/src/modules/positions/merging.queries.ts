/** Merging and erasing users. */
import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { JourneyId, UserId } from '../../lib/ids.ts'
import { IdOf } from '../../lib/shapes.ts'

type Merge = { from_id: UserId; into_id: UserId }

const pairsOf = (merges: Merge[]) =>
  sql`unnest(${merges.map(({ from_id }) => from_id)}::bigint[], ${merges.map(({ into_id }) => into_id)}::bigint[]) as p(from_id, into_id)`

/**
 * Moves entrances, timers, counts and history to the users that theirs were merged into. The caller has ended entrances that would have the
 * same slot.
 */
export const movePositions = async (ctx: InTx, merges: Merge[]): Promise<void> => {
  const { projectId } = ctx
  await ctx.db.run(
    sql`update journey_entrances e set user_id = p.into_id from ${pairsOf(merges)} where e.project_id = ${projectId} and e.user_id = p.from_id`,
  )
  await ctx.db.run(
    sql`update journey_timers t set user_id = e.user_id
        from journey_entrances e
        where e.project_id = ${projectId} and e.user_id = any(${merges.map(({ into_id }) => into_id)}::bigint[])
          and t.project_id = e.project_id and t.journey_id = e.journey_id and t.due_at = e.due_at and t.entrance_id = e.entrance_id
          and t.user_id = any(${merges.map(({ from_id }) => from_id)}::bigint[])`,
  )
  await ctx.db.run(
    sql`update journey_past e set user_id = p.into_id from ${pairsOf(merges)} where e.project_id = ${projectId} and e.user_id = p.from_id`,
  )
  await ctx.db.run(
    sql`with gone as (
          delete from journey_users u using ${pairsOf(merges)} where u.project_id = ${projectId} and u.user_id = p.from_id
          returning p.into_id, u.*
        )
        insert into journey_users as u (project_id, user_id, journey_id, entered, completed, exited, active, first_entered_at,
                                        last_entered_at, last_ended_at, held_out_at, goal_until, last_outcome, arm, goals)
        select project_id, into_id, journey_id, sum(entered), sum(completed), sum(exited), sum(active), min(first_entered_at),
               max(last_entered_at), max(last_ended_at), min(held_out_at), max(goal_until), max(last_outcome), max(arm),
               coalesce(jsonb_object_agg(g.key, g.value) filter (where g.key is not null), '{}')
        from gone
        left join lateral jsonb_each(goals) g on true
        group by project_id, into_id, journey_id
        order by 2, 3
        on conflict (project_id, user_id, journey_id) do update
        set entered = u.entered + excluded.entered, completed = u.completed + excluded.completed, exited = u.exited + excluded.exited,
            active = u.active + excluded.active, first_entered_at = least(u.first_entered_at, excluded.first_entered_at),
            last_entered_at = greatest(u.last_entered_at, excluded.last_entered_at),
            last_ended_at = greatest(u.last_ended_at, excluded.last_ended_at), held_out_at = least(u.held_out_at, excluded.held_out_at),
            goal_until = greatest(u.goal_until, excluded.goal_until), last_outcome = coalesce(u.last_outcome, excluded.last_outcome),
            arm = coalesce(u.arm, excluded.arm), goals = excluded.goals || u.goals`,
  )
}

const ErasedRow = Type.Object({ journey_id: IdOf<JourneyId>(), version: Type.Integer(), step_id: Type.Integer(), users: Type.Integer() })

/** Deletes what is stored about these users. Returns the number of their entrances at each step. */
export const erasePositions = (ctx: InTx, ids: UserId[]) =>
  ctx.db.many(
    ErasedRow,
    sql`with gone as (
          delete from journey_entrances where project_id = ${ctx.projectId} and user_id = any(${ids}::bigint[])
          returning journey_id, version, step_id, due_at, user_id, entrance_id
        ), timers as (
          delete from journey_timers t using gone g
          where t.project_id = ${ctx.projectId} and t.journey_id = g.journey_id and t.due_at = g.due_at and t.user_id = g.user_id
            and t.entrance_id = g.entrance_id
        ), past as (
          delete from journey_past where project_id = ${ctx.projectId} and user_id = any(${ids}::bigint[])
        ), counts as (
          delete from journey_users where project_id = ${ctx.projectId} and user_id = any(${ids}::bigint[])
        )
        select journey_id, version, step_id, count(*) as users from gone group by journey_id, version, step_id`,
  )
