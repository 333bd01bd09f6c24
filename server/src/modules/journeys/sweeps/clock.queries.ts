import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { Ctx, InTx } from '../../../infra/runtime/ctx.ts'
import { leaseEnd } from '../../../infra/runtime/lease-time.ts'
import type { ProjectId } from '../../../lib/ids.ts'
import { IdOf } from '../../../lib/shapes.ts'
import { MINUTE_MS } from '../../../lib/times.ts'
import type { SweepWork } from './kinds.ts'

const AheadRow = Type.Object({ project_id: IdOf<ProjectId>() })

/** The projects whose time was last noted more than `graceMs` in the future. */
export const projectsAhead = (ctx: Ctx, graceMs: number) =>
  ctx.db.many(
    AheadRow,
    sql`select project_id from journey_clocks where checked_to > ${new Date(ctx.clock.now().getTime() + graceMs)} order by 1`,
  )

/** Notes the time for all projects with published journeys, unless it was noted a short time ago. */
export const noteTime = (ctx: Ctx, everyMs: number) => {
  const now = ctx.clock.now()
  return ctx.db.run(
    sql`insert into journey_clocks as c (project_id, checked_to)
        select distinct project_id, ${now}::timestamptz from journey_versions where status = 'live'
        on conflict (project_id) do update set checked_to = excluded.checked_to
        where c.checked_to <= ${new Date(now.getTime() - everyMs)}`,
  )
}

/** Notes that the clock was set back. False if another process was first. */
export const setTime = async (ctx: InTx, graceMs: number): Promise<boolean> => {
  const now = ctx.clock.now()
  const changed = await ctx.db.run(
    sql`update journey_clocks set checked_to = ${now}
        where project_id = ${ctx.projectId} and checked_to > ${new Date(now.getTime() + graceMs)}`,
  )
  return changed > 0
}

/**
 * Frees the places of balancers that were reserved in the future, and makes calls that were asked for in the future calls of now. Leases that
 * were taken there end as those of now do: their holders may have died.
 */
export const setBackRatesAndCalls = (ctx: InTx, leaseUntil: Date) => {
  const now = ctx.clock.now()
  const end = leaseEnd(ctx, leaseUntil)
  return ctx.db.run(
    sql`with rates as (
          update journey_rates set next_at = ${now} where project_id = ${ctx.projectId} and next_at > ${now}
        ), calls as (
          update journey_calls
          set created_at = least(created_at, ${now}), due_at = least(due_at, case when lease_until is null then ${now} else ${end} end),
              lease_until = case when lease_until is not null then least(lease_until, ${end}) end
          where project_id = ${ctx.projectId}
            and (created_at > ${now} or lease_until > ${end})
        )
        select 1`,
  )
}

/** Starts a sweep of every published journey over the users who acted later than an instant. */
export const sweepAll = (ctx: InTx, after: Date) => {
  const { kind, params }: Extract<SweepWork, { kind: 'clock' }> = { kind: 'clock', params: { after: after.toISOString() } }
  return ctx.db.run(
    sql`insert into journey_sweeps (project_id, journey_id, kind, params, next_at, created_at)
        select distinct v.project_id, v.journey_id, ${kind}, ${JSON.stringify(params)}::jsonb, ${ctx.clock.now()}::timestamptz, ${ctx.clock.now()}::timestamptz
        from journey_versions v
        where v.project_id = ${ctx.projectId} and v.status <> 'draft'`,
  )
}

/**
 * Makes sweeps that were started in the future due now. Those that look once more are due a minute later, when a batch that is being applied now is
 * over. Entries from now on count as entries since they started. The end of a drain is a time that was asked for, and stays.
 */
export const setBackSweeps = (ctx: InTx) => {
  const now = ctx.clock.now()
  const again = new Date(now.getTime() + MINUTE_MS)
  return ctx.db.run(
    sql`update journey_sweeps
        set next_at = least(next_at, case when params ->> 'isAgain' is null then ${now}::timestamptz else ${again}::timestamptz end),
            params = case when (params ->> 'since')::timestamptz > ${now}
                          then params || jsonb_build_object('since', ${now.toISOString()}::text) else params end
        where project_id = ${ctx.projectId}
          and (kind in ('existing', 'publish', 'resume') or kind = 'exit' and params ->> 'reason' <> 'drained')
          and (next_at > ${now} or (params ->> 'since')::timestamptz > ${now})`,
  )
}

const ScheduleRow = Type.Object({ id: Type.Integer(), params: Type.Unsafe<SweepWork['params']>({ type: 'object' }) })

const isOfJourney = (ctx: InTx) => sql`journey_id in (select id from journeys where project_id = ${ctx.projectId} and archived_at is null)`

/** Locks the schedules that are next due after an instant, without those of archived journeys. */
export const lockSchedulesAfter = (ctx: InTx, at: Date) =>
  ctx.db.many(
    ScheduleRow,
    sql`select id, params from journey_sweeps
        where project_id = ${ctx.projectId} and kind = 'schedule' and next_at > ${at} and ${isOfJourney(ctx)}
        order by id
        for update`,
  )

/**
 * Sets when locked schedules are due. Each starts with the first user again. Those of a journey that was archived while they were waited for, which
 * the statement that locked them could not see, stay as they are.
 */
export const saveNext = (ctx: InTx, schedules: { id: number; next: Date }[]) =>
  ctx.db.run(
    sql`update journey_sweeps s set next_at = n.next_at, cursor = null
        from unnest(${schedules.map(({ id }) => id)}::bigint[], ${schedules.map(({ next }) => next)}::timestamptz[]) as n(id, next_at)
        where s.project_id = ${ctx.projectId} and s.id = n.id and ${isOfJourney(ctx)}`,
  )
