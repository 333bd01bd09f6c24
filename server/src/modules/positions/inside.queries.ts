/** Who is inside a journey, and where. */
import { type Static, Type } from 'typebox'
import { type Sql, sql } from '../../infra/postgres/db.ts'
import type { Ctx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { JourneyId, UserId } from '../../lib/ids.ts'
import { Flag, IdOf, Instant, Nullable } from '../../lib/shapes.ts'

const UsersAtStepRow = Type.Object({
  version: Type.Integer(),
  external_id: Type.String(),
  users: Type.Integer(),
  last_due_at: Nullable(Instant),
})

/** The number of entrances at each step, by version, and when the wait of the last of them is over. */
export const usersAtSteps = (ctx: ProjectCtx, journeyId: JourneyId) =>
  ctx.db.many(
    UsersAtStepRow,
    sql`select e.version, s.external_id, e.users, e.last_due_at
        from (select version, step_id, count(*) as users, max(coalesce(until, due_at)) as last_due_at from journey_entrances
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

const CountsRow = Type.Object({ inside: Type.Integer(), parked: Type.Integer() })

/** About how many users are inside the journeys of all projects, and how many of them are parked. */
export const countWaiting = (ctx: Ctx) =>
  ctx.db.one(
    CountsRow,
    sql`select greatest(reltuples, 0)::bigint as inside, (select count(*) from journey_entrances where parked is not null) as parked
        from pg_class where oid = 'journey_entrances'::regclass`,
  )

const WaitingRow = Type.Object({
  version: Type.Integer(),
  external_id: Type.String(),
  user_id: IdOf<UserId>(),
  entered_at: Instant,
  arrived_at: Instant,
  due_at: Nullable(Instant),
})
export type WaitingRow = Static<typeof WaitingRow>

/**
 * Entrances at steps of versions: up to `limit` for each step, the earliest arrivals first. The entrances of the journey are read once: no
 * index has their steps.
 */
export const waitingAt = (ctx: ProjectCtx, journeyId: JourneyId, places: { version: number; external_id: string }[], limit: number) =>
  ctx.db.many(
    WaitingRow,
    sql`with places as materialized (
          select p.version, p.external_id, s.id as step_id
          from unnest(${places.map(({ version }) => version)}::int[], ${places.map(({ external_id }) => external_id)}::text[]) as p(version, external_id)
          join journey_steps s on s.project_id = ${ctx.projectId} and s.journey_id = ${journeyId} and s.external_id = p.external_id
        ), ranked as materialized (
          select version, step_id, user_id, entered_at, arrived_at, due_at
          from (
            select version, step_id, user_id, entered_at, arrived_at, coalesce(until, due_at) as due_at,
                   row_number() over (partition by version, step_id order by arrived_at) as rank
            from journey_entrances
            where project_id = ${ctx.projectId} and journey_id = ${journeyId} and version = any(array(select version from places))
              and step_id = any(array(select step_id from places))
          ) e
          where rank <= ${limit}
        )
        select p.version, p.external_id, e.user_id, e.entered_at, e.arrived_at, e.due_at
        from ranked e
        join places p on p.version = e.version and p.step_id = e.step_id`,
  )

/** A place among the entrances of a journey: those of users are in the order of their ids. */
export type EntrancePlace = { user_id: UserId; entrance_id: number }

const PlaceRow = Type.Object({ user_id: IdOf<UserId>(), entrance_id: Type.Integer() })

/**
 * The entrances that a sweep reads: those that began before an instant, those on other versions than this one (all, or those that began
 * since an instant), those that a held journey stopped, or those whose last item is later than an instant.
 */
export type EntranceFilter = { enteredBefore: Date } | { notOn: number; since: Date | null } | { held: true } | { actedAfter: Date }

function conditionOf(filter: EntranceFilter): Sql {
  if ('held' in filter) return sql`is_held`
  if ('notOn' in filter) {
    const { notOn, since } = filter
    return since === null ? sql`version <> ${notOn}` : sql`version <> ${notOn} and entered_at >= ${since}`
  }
  return 'actedAfter' in filter ? sql`acted_at > ${filter.actedAfter}` : sql`entered_at <= ${filter.enteredBefore}`
}

/** The next entrances of a journey after a place. */
export function entrancesAfter(ctx: ProjectCtx, journeyId: JourneyId, filter: EntranceFilter, after: EntrancePlace, limit: number) {
  const wanted = conditionOf(filter)
  return ctx.db.many(
    PlaceRow,
    sql`select user_id, entrance_id from journey_entrances
        where project_id = ${ctx.projectId} and journey_id = ${journeyId} and user_id >= ${after.user_id}
          and (user_id, entrance_id) > (${after.user_id}, ${after.entrance_id}) and ${wanted}
        order by user_id, entrance_id
        limit ${limit}`,
  )
}
