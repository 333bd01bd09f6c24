import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import { callRows, type JointCall, jointMany } from '../../infra/postgres/joint.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { JourneyId, ProjectId } from '../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../lib/shapes.ts'
import { TimerRow } from './schema.ts'

/** A journey whose timers rest. */
export type HeldJourney = { project_id: ProjectId; id: JourneyId }

const NextRow = Type.Object({ project_id: IdOf<ProjectId>(), due_at: Nullable(Instant) })

/** When the next timer of each project is due, of journeys that are not held. The index is read from one journey to the next. */
export const nextTimers = (ctx: Ctx, held: HeldJourney[]) =>
  ctx.db.many(
    NextRow,
    sql`with recursive waiting as (
          (select project_id, journey_id, due_at from journey_timers order by project_id, journey_id, due_at limit 1)
          union all
          select further.project_id, further.journey_id, further.due_at
          from waiting w
          cross join lateral (
            select t.project_id, t.journey_id, t.due_at from journey_timers t
            where (t.project_id, t.journey_id) > (w.project_id, w.journey_id)
            order by t.project_id, t.journey_id, t.due_at
            limit 1
          ) further
        )
        select project_id, min(due_at) as due_at from waiting w
        where not exists (select from unnest(${held.map(({ project_id }) => project_id)}::bigint[], ${held.map(({ id }) => id)}::bigint[]) as h(project_id, id)
                          where h.project_id = w.project_id and h.id = w.journey_id)
        group by project_id
        order by 2`,
  )

type Wanted = { journeyIds: JourneyId[]; to: Date; each: number }

/** The oldest due timers of these journeys, up to a number of each. */
export const dueTimers = (ctx: ProjectCtx | InTx, wanted: Wanted): Promise<TimerRow[]> =>
  wanted.journeyIds.length === 0 ? Promise.resolve([]) : findDue(ctx, ctx.projectId, wanted)

const findDue = jointMany(
  TimerRow,
  (_, calls: JointCall<Wanted>[]) =>
    sql`select q.call, t.*
        from ${callRows(calls, sql`ids bigint[], until timestamptz, each int`, ({ journeyIds, to, each }) => ({ ids: journeyIds, until: to, each }))}
        cross join lateral unnest(q.ids) as j(id)
        cross join lateral (
          select journey_id, due_at, user_id, entrance_id, visit from journey_timers
          where project_id = q.project_id and journey_id = j.id and due_at <= q.until
          order by due_at, user_id, entrance_id
          limit q.each
        ) t
        order by q.call, t.due_at, t.user_id, t.entrance_id`,
)
