/** Who is inside a journey, and where. */
import { type Static, Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { JourneyId, UserId } from '../../lib/ids.ts'
import { Flag, IdOf, Instant, Nullable } from '../../lib/shapes.ts'

const UsersAtStepRow = Type.Object({ version: Type.Integer(), external_id: Type.String(), users: Type.Integer() })

/** The number of entrances at each step, by version. */
export const usersAtSteps = (ctx: ProjectCtx, journeyId: JourneyId) =>
  ctx.db.many(
    UsersAtStepRow,
    sql`select e.version, s.external_id, e.users
        from (select version, step_id, count(*) as users from journey_entrances
              where project_id = ${ctx.projectId} and journey_id = ${journeyId}
              group by version, step_id) e
        join journey_steps s on s.project_id = ${ctx.projectId} and s.journey_id = ${journeyId} and s.id = e.step_id
        order by e.version, s.id`,
  )

/** Is a user inside the journey? */
export const hasUsersInside = (ctx: ProjectCtx, journeyId: JourneyId): Promise<boolean> =>
  ctx.db.value(
    Flag,
    sql`select exists (select from journey_entrances where project_id = ${ctx.projectId} and journey_id = ${journeyId}) as found`,
  )

const WaitingRow = Type.Object({ user_id: IdOf<UserId>(), entered_at: Instant, arrived_at: Instant, due_at: Nullable(Instant) })
export type WaitingRow = Static<typeof WaitingRow>

/** Entrances at a step of a version, those who came first first. */
export const waitingAt = (ctx: ProjectCtx, journeyId: JourneyId, version: number, key: string, limit: number) =>
  ctx.db.many(
    WaitingRow,
    sql`select e.user_id, e.entered_at, e.arrived_at, e.due_at
        from journey_entrances e
        join journey_steps s on s.project_id = ${ctx.projectId} and s.journey_id = ${journeyId} and s.id = e.step_id
        where e.project_id = ${ctx.projectId} and e.journey_id = ${journeyId} and e.version = ${version} and s.external_id = ${key}
        order by e.arrived_at
        limit ${limit}`,
  )

/** A place among the entrances of a journey: those of users are in the order of their ids. */
export type EntrancePlace = { user_id: UserId; entrance_id: number }

const PlaceRow = Type.Object({ user_id: IdOf<UserId>(), entrance_id: Type.Integer() })

/** What a sweep reads: everyone who entered before an instant, those on other versions, or those whom a held journey stopped. */
export type EntranceFilter = { enteredBefore: Date } | { notOn: number } | { held: true }

/** The next entrances of a journey after a place. */
export function entrancesAfter(ctx: ProjectCtx, journeyId: JourneyId, filter: EntranceFilter, after: EntrancePlace, limit: number) {
  const wanted =
    'held' in filter ? sql`is_held` : 'notOn' in filter ? sql`version <> ${filter.notOn}` : sql`entered_at <= ${filter.enteredBefore}`
  return ctx.db.many(
    PlaceRow,
    sql`select user_id, entrance_id from journey_entrances
        where project_id = ${ctx.projectId} and journey_id = ${journeyId} and user_id >= ${after.user_id}
          and (user_id, entrance_id) > (${after.user_id}, ${after.entrance_id}) and ${wanted}
        order by user_id, entrance_id
        limit ${limit}`,
  )
}
