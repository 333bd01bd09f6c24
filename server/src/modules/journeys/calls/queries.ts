import { type Static, Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { Ctx, InTx } from '../../../infra/runtime/ctx.ts'
import { leaseEnd, leaseNow, ownTimeOf } from '../../../infra/runtime/lease-time.ts'
import type { JourneyId, ProjectId, UserId } from '../../../lib/ids.ts'
import { Count, IdOf, Instant, Nullable } from '../../../lib/shapes.ts'
import { CALL_AGE_MAX_MS } from '../call-times.ts'
import type { CallRequest } from '../steps/step.ts'

const CallRow = Type.Object({
  project_id: IdOf<ProjectId>(),
  user_id: IdOf<UserId>(),
  entrance_id: Type.Integer(),
  visit: Type.Integer(),
  journey_id: IdOf<JourneyId>(),
  attempts: Type.Integer(),
  request: Type.Unsafe<CallRequest>({ type: 'object' }),
  created_at: Instant,
  lease_token: Type.String(),
})
export type CallRow = Static<typeof CallRow>

/** One claim at a time, so that a host has no more calls than its room. */
const lockClaims = (ctx: InTx<Ctx>) => ctx.db.run(sql`select pg_advisory_xact_lock(hashtextextended('journey calls', 0))`)

/** Calls that were asked for before this are not made. They became due before it too, or were tried meanwhile. */
const oldest = (ctx: Ctx): Date => new Date(ctx.clock.now().getTime() - CALL_AGE_MAX_MS)

/**
 * Leases due calls: of each host of a project as many as there is room for. While it is leased, a call is due at the end of its lease, so
 * that the call of a process that died is made again, with the same key.
 */
export async function claimCalls(
  ctx: InTx<Ctx>,
  { perHost, total, leaseUntil, token }: { perHost: number; total: number; leaseUntil: Date; token: string },
): Promise<CallRow[]> {
  await lockClaims(ctx)
  return ctx.db.many(
    CallRow,
    sql`with recursive hosts as (
          (select project_id, host from journey_calls order by project_id, host limit 1)
          union all
          select n.project_id, n.host from hosts h
          cross join lateral (select project_id, host from journey_calls c
                              where (c.project_id, c.host) > (h.project_id, h.host)
                              order by c.project_id, c.host limit 1) n
        ), due as (
          select d.project_id, d.user_id, d.entrance_id, d.visit
          from hosts h
          cross join lateral (select count(*) as calls from journey_calls b
                              where b.project_id = h.project_id and b.host = h.host and b.due_at > ${leaseNow(ctx)}
                                and b.lease_until > ${leaseNow(ctx)}) busy
          cross join lateral (select project_id, user_id, entrance_id, visit, due_at from journey_calls c
                              where c.project_id = h.project_id and c.host = h.host
                                and c.due_at between ${oldest(ctx)} and ${ctx.clock.now()} and c.created_at >= ${oldest(ctx)}
                                and (c.lease_until is null or c.lease_until <= ${leaseNow(ctx)})
                              order by c.due_at
                              limit greatest(0, ${perHost} - busy.calls)) d
          order by d.due_at
          limit ${total}
        )
        update journey_calls c
        set lease_token = ${token}::uuid, lease_until = ${leaseEnd(ctx, leaseUntil)}, due_at = ${leaseEnd(ctx, leaseUntil)}, attempts = c.attempts + 1
        from due d
        where c.project_id = d.project_id and c.user_id = d.user_id and c.entrance_id = d.entrance_id and c.visit = d.visit
        returning c.project_id, c.user_id, c.entrance_id, c.visit, c.journey_id, c.attempts, c.request, c.created_at, c.lease_token::text as lease_token`,
  )
}

type CallKey = Pick<CallRow, 'user_id' | 'entrance_id' | 'visit' | 'lease_token'>

const isHeld = ({ user_id, entrance_id, visit, lease_token }: CallKey, projectId: ProjectId) =>
  sql`project_id = ${projectId} and user_id = ${user_id} and entrance_id = ${entrance_id} and visit = ${visit}
      and lease_token = ${lease_token}::uuid`

/** Ends a call. 0 if the user left meanwhile, or another process has the call. */
export const deleteCall = (ctx: InTx, call: CallKey): Promise<number> =>
  ctx.db.run(sql`delete from journey_calls where ${isHeld(call, ctx.projectId)}`)

/** Releases a call until its next try. */
export const deferCall = (ctx: InTx, call: CallKey, at: Date): Promise<number> =>
  ctx.db.run(sql`update journey_calls set due_at = ${at}, lease_token = null, lease_until = null where ${isHeld(call, ctx.projectId)}`)

/**
 * Deletes at most `limit` calls that have been due for longer than calls are made. Their steps give them up without an answer, or did so in an
 * earlier release, which kept the calls. Returns how many.
 */
export const deleteOldCalls = (ctx: Ctx, limit: number): Promise<number> =>
  ctx.db.run(
    sql`with old as materialized (
          select project_id, user_id, entrance_id, visit from journey_calls
          where due_at < ${oldest(ctx)}
          order by due_at
          limit ${limit}
          for update skip locked
        )
        delete from journey_calls c
        using old o
        where c.project_id = o.project_id and c.user_id = o.user_id and c.entrance_id = o.entrance_id and c.visit = o.visit`,
  )

/** Withdraws the calls of a project that were not made. */
export const deleteCalls = (ctx: InTx) => ctx.db.run(sql`delete from journey_calls where project_id = ${ctx.projectId}`)

/** How many calls have no answer yet, over all projects. */
export const countCalls = (ctx: Ctx): Promise<number> => ctx.db.value(Count, sql`select count(*) as count from journey_calls`)

/** When the next call is due. One that is leased is due by the time of leases, the others by the clock of this process. */
export const nextCallAt = (ctx: Ctx): Promise<Date | null> => {
  const made = sql`from journey_calls where due_at >= ${oldest(ctx)} and created_at >= ${oldest(ctx)}`
  return ctx.db.value(
    Nullable(Instant),
    sql`select least((select case when lease_until is null then due_at else ${ownTimeOf(ctx, sql`due_at`)} end ${made} order by due_at limit 1),
                     (select due_at ${made} and lease_until is null order by due_at limit 1)) as due_at`,
  )
}
