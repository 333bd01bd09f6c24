import { type Static, Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { JourneyId, UserId } from '../../lib/ids.ts'
import { Count, IdOf, Instant, Nullable } from '../../lib/shapes.ts'
import { Json, type TrailVisit } from './schema.ts'
import { type StoredTrail, withTrail } from './trail.ts'

/** An entrance that is stored, of a user who is inside or was. */
export const RecordedEntrance = Type.Object({
  user_id: IdOf<UserId>(),
  entrance_id: Type.Integer(),
  version: Type.Integer(),
  depth: Type.Integer(),
  entered_at: Instant,
  key: Nullable(Type.String()),
  cause: Type.String(),
  event: Nullable(Type.Unsafe<{ name: string; data: Record<string, unknown>; created_at: string }>({})),
  answers: Type.Unsafe<Record<string, { status: number | null; body: unknown }>>({}),
  trail: Json<StoredTrail>(),
})
export type RecordedEntrance = Omit<Static<typeof RecordedEntrance>, 'trail'> & { trail: TrailVisit[] }

const columns = sql`user_id, entrance_id, version, depth, entered_at, key, cause, event, answers, trail`

/** The entrances of users into a journey that began in a window. */
export const entrancesSince = async (
  ctx: ProjectCtx,
  journeyId: JourneyId,
  ids: UserId[],
  since: Date,
  until: Date,
): Promise<RecordedEntrance[]> => {
  const rows = await ctx.db.many(
    RecordedEntrance,
    sql`select ${columns} from journey_entrances
        where project_id = ${ctx.projectId} and user_id = any(${ids}::bigint[]) and journey_id = ${journeyId}
          and entered_at >= ${since} and entered_at < ${until}
        union all
        select ${columns} from journey_past
        where project_id = ${ctx.projectId} and user_id = any(${ids}::bigint[]) and journey_id = ${journeyId}
          and entered_at >= ${since} and entered_at < ${until} and ended_at >= ${since}
        order by entered_at, entrance_id`,
  )
  return rows.map(withTrail)
}

const UserIdRow = Type.Object({ user_id: IdOf<UserId>() })

/** The users who last entered a journey at this instant or later. */
export const usersEnteredSince = (ctx: ProjectCtx, journeyId: JourneyId, since: Date) =>
  ctx.db.many(
    UserIdRow,
    sql`select user_id from journey_users
        where project_id = ${ctx.projectId} and journey_id = ${journeyId} and last_entered_at >= ${since}
        order by user_id`,
  )

/** How many users were inside a journey at an instant. */
export const countInsideAt = (ctx: ProjectCtx, journeyId: JourneyId, at: Date): Promise<number> =>
  ctx.db.value(
    Count,
    sql`select (select count(*) from journey_entrances e
                join journey_users u on u.project_id = e.project_id and u.user_id = e.user_id and u.journey_id = e.journey_id
                where e.project_id = ${ctx.projectId} and e.journey_id = ${journeyId} and e.entered_at < ${at})
             + (select count(*) from journey_past
                where project_id = ${ctx.projectId} and journey_id = ${journeyId} and entered_at < ${at} and ended_at >= ${at}) as count`,
  )
