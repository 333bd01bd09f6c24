/** Users of a journey, as the API shows them. */
import { type Static, Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { sql } from '../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { JourneyId, UserId } from '../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../lib/shapes.ts'
import { JourneyUserRow, Json, type TrailVisit } from './schema.ts'
import { type StoredTrail, withTrail } from './trail.ts'

const shared = {
  user_id: IdOf<UserId>(),
  entrance_id: Type.Integer(),
  version: Type.Integer(),
  external_id: Type.String(),
  visit: Type.Integer(),
  key: Nullable(Type.String()),
  cause: Type.String(),
  entered_at: Instant,
  arrived_at: Instant,
}

export const InsideRow = Type.Object({
  ...shared,
  due_at: Nullable(Instant),
  is_held: Type.Boolean(),
  parked: Nullable(Type.String()),
})
export type InsideRow = Static<typeof InsideRow>

const insideColumns = sql`e.user_id, e.entrance_id, e.version, s.external_id, e.visit, e.key, e.cause, e.entered_at, e.arrived_at,
  coalesce(e.until, e.due_at) as due_at, e.is_held, e.parked`

const withStep = sql`journey_entrances e
  join journey_steps s on s.project_id = e.project_id and s.journey_id = e.journey_id and s.id = e.step_id`

export const insideListing = listing({
  resource: 'journey_users',
  sorts: { user_id: { column: sql`e.user_id`, type: 'bigint' } },
  defaultSort: 'user_id',
  defaultDirection: 'asc',
  id: sql`e.entrance_id`,
  idName: 'entrance_id',
  searchedFields: 'none',
})

/** A page of the entrances that have not ended; optionally only those at a step, or only parked ones. */
export const listInside = (
  ctx: ProjectCtx,
  journeyId: JourneyId,
  { step, isParked }: { step?: string | undefined; isParked: boolean },
  page: PageRequest,
): Promise<PageOf<InsideRow>> =>
  pageOf(ctx, InsideRow, insideListing, page, {
    select: insideColumns,
    from: withStep,
    where: sql`e.project_id = ${ctx.projectId} and e.journey_id = ${journeyId}
      and (${step ?? null}::text is null or s.external_id = ${step ?? null}) and (not ${isParked} or e.parked is not null)`,
  })

const TrailRow = Type.Object({
  ...InsideRow.properties,
  event: Nullable(Json<{ name: string; data: Record<string, unknown> }>()),
  trail: Json<StoredTrail>(),
})
export type TrailRow = Omit<Static<typeof TrailRow>, 'trail'> & { trail: TrailVisit[] }

/** The entrances of a user into a journey that have not ended, the newest first. */
export const insideOf = async (ctx: ProjectCtx, journeyId: JourneyId, userId: UserId): Promise<TrailRow[]> => {
  const rows = await ctx.db.many(
    TrailRow,
    sql`select ${insideColumns}, e.event, e.trail from ${withStep}
        where e.project_id = ${ctx.projectId} and e.user_id = ${userId} and e.journey_id = ${journeyId}
        order by e.entered_at desc, e.entrance_id`,
  )
  return rows.map(withTrail)
}

const PlaceRow = Type.Object({ ...InsideRow.properties, journey_id: IdOf<JourneyId>() })

/** The entrances of a user, into any journey, that have not ended: the newest first. */
export const placesOf = (ctx: ProjectCtx, userId: UserId, limit: number) =>
  ctx.db.many(
    PlaceRow,
    sql`select e.journey_id, ${insideColumns} from ${withStep}
        where e.project_id = ${ctx.projectId} and e.user_id = ${userId}
        order by e.entered_at desc, e.entrance_id
        limit ${limit}`,
  )

const PastRow = Type.Object({
  ...shared,
  ended_at: Instant,
  outcome: Type.String(),
  reason: Type.String(),
  event: Nullable(Json<{ name: string; data: Record<string, unknown> }>()),
  trail: Json<StoredTrail>(),
})
export type PastRow = Omit<Static<typeof PastRow>, 'trail'> & { trail: TrailVisit[] }

/** The entrances of a user into a journey that ended, the newest first. */
export const pastOf = async (ctx: ProjectCtx, journeyId: JourneyId, userId: UserId, limit: number): Promise<PastRow[]> => {
  const rows = await ctx.db.many(
    PastRow,
    sql`select p.user_id, p.entrance_id, p.version, s.external_id, p.visit, p.key, p.cause, p.entered_at, p.arrived_at, p.ended_at, p.outcome,
               p.reason, p.event, p.trail
        from journey_past p
        join journey_steps s on s.project_id = p.project_id and s.journey_id = p.journey_id and s.id = p.step_id
        where p.project_id = ${ctx.projectId} and p.user_id = ${userId} and p.journey_id = ${journeyId}
        order by p.ended_at desc
        limit ${limit}`,
  )
  return rows.map(withTrail)
}

const KnownRow = Type.Pick(JourneyUserRow, [
  'user_id',
  'entered',
  'completed',
  'exited',
  'active',
  'first_entered_at',
  'last_entered_at',
  'last_ended_at',
  'held_out_at',
  'last_outcome',
  'arm',
])
export type KnownRow = Static<typeof KnownRow>

const knownColumns = sql`user_id, entered, completed, exited, active, first_entered_at, last_entered_at, last_ended_at, held_out_at,
  last_outcome, arm`

/** The stored history of a user in a journey, which is never deleted. */
export const journeyUserOf = (ctx: ProjectCtx, journeyId: JourneyId, userId: UserId): Promise<KnownRow | undefined> =>
  ctx.db.first(
    KnownRow,
    sql`select ${knownColumns} from journey_users
        where project_id = ${ctx.projectId} and user_id = ${userId} and journey_id = ${journeyId}`,
  )

const endedListing = listing({
  resource: 'journey_users',
  sorts: { user_id: { column: sql`user_id`, type: 'bigint' } },
  defaultSort: 'user_id',
  defaultDirection: 'asc',
  id: sql`user_id`,
  idName: 'user_id',
  searchedFields: 'none',
})

/** A page of the users who left a journey for good, or were held out of it. */
export const listEnded = (
  ctx: ProjectCtx,
  journeyId: JourneyId,
  state: 'completed' | 'exited' | 'held_out',
  page: PageRequest,
): Promise<PageOf<KnownRow>> =>
  pageOf(ctx, KnownRow, endedListing, page, {
    select: knownColumns,
    from: sql`journey_users`,
    where: sql`project_id = ${ctx.projectId} and journey_id = ${journeyId}
      and ${state === 'held_out' ? sql`held_out_at is not null and entered = 0` : sql`active = 0 and last_outcome = ${state}`}`,
  })
