import { type Static, Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { JourneyId, ProjectId } from '../../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../../lib/shapes.ts'
import type { Cursor, SweepWork } from './kinds.ts'

const SweepRow = Type.Object({
  id: Type.Integer(),
  project_id: IdOf<ProjectId>(),
  journey_id: IdOf<JourneyId>(),
  kind: Type.Unsafe<SweepWork['kind']>({ type: 'string' }),
  params: Type.Unsafe<SweepWork['params']>({ type: 'object' }),
  cursor: Nullable(Type.Unsafe<Cursor>({ type: 'object' })),
  next_at: Instant,
})
export type SweepRow = Static<typeof SweepRow>

const columns = sql`id, project_id, journey_id, kind, params, cursor, next_at`

/** Starts a sweep of a journey. */
export const insertSweep = (ctx: InTx, journeyId: JourneyId, work: SweepWork, nextAt: Date) =>
  insertSweeps(ctx, journeyId, [{ ...work, next_at: nextAt }])

/** Starts several sweeps of a journey. */
export const insertSweeps = (ctx: InTx, journeyId: JourneyId, sweeps: (SweepWork & { next_at: Date })[]) =>
  ctx.db.run(
    sql`insert into journey_sweeps (project_id, journey_id, kind, params, next_at, created_at)
        select ${ctx.projectId}, ${journeyId}, s.kind, s.params, s.next_at, ${ctx.clock.now()}
        from jsonb_to_recordset(${JSON.stringify(sweeps)}::jsonb) as s(kind text, params jsonb, next_at timestamptz)`,
  )

/** The sweeps of a journey of these kinds. */
export const sweepsOf = (ctx: ProjectCtx, journeyId: JourneyId, kinds: SweepWork['kind'][]) =>
  ctx.db.many(
    SweepRow,
    sql`select ${columns} from journey_sweeps
        where project_id = ${ctx.projectId} and journey_id = ${journeyId} and kind = any(${kinds}::text[])
        order by id`,
  )

export const deleteSweeps = (ctx: InTx, journeyId: JourneyId, kinds: SweepWork['kind'][]) =>
  ctx.db.run(
    sql`delete from journey_sweeps
        where project_id = ${ctx.projectId} and journey_id = ${journeyId} and kind = any(${kinds}::text[])`,
  )

/**
 * Deletes the exits that were planned when a journey was switched off. Exits of users who were inside when the journey was archived are
 * kept.
 */
export const deleteExits = (ctx: InTx, journeyId: JourneyId) =>
  ctx.db.run(
    sql`delete from journey_sweeps
        where project_id = ${ctx.projectId} and journey_id = ${journeyId} and kind = 'exit' and params ->> 'reason' <> 'archived'`,
  )

/** Deletes the sweeps over members, except those that wait until a journey is live. */
export const deleteExisting = (ctx: InTx, journeyId: JourneyId) =>
  ctx.db.run(
    sql`delete from journey_sweeps
        where project_id = ${ctx.projectId} and journey_id = ${journeyId} and kind = 'existing' and params ->> 'waits' is null`,
  )

/**
 * Starts the sweeps over members that wait until a journey is live. When they are due does not matter: a process that has read that the
 * journey is off may be putting them off.
 */
export const startExisting = (ctx: InTx, journeyId: JourneyId) => {
  const start: Partial<Extract<SweepWork, { kind: 'existing' }>['params']> = { since: ctx.clock.now().toISOString() }
  return ctx.db.run(
    sql`update journey_sweeps set next_at = ${ctx.clock.now()}, params = params - 'waits' || ${JSON.stringify(start)}::jsonb
        where project_id = ${ctx.projectId} and journey_id = ${journeyId} and kind = 'existing' and params ->> 'waits' is not null`,
  )
}

/** Limits the exits of a journey that was archived to the users who entered up to now, because it is restored. */
export const limitExits = (ctx: InTx, journeyId: JourneyId) => {
  const limit: Partial<Extract<SweepWork, { kind: 'exit' }>['params']> = { before: ctx.clock.now().toISOString(), isRestored: true }
  return ctx.db.run(
    sql`update journey_sweeps set params = params || ${JSON.stringify(limit)}::jsonb
        where project_id = ${ctx.projectId} and journey_id = ${journeyId} and kind = 'exit' and params ->> 'reason' = 'archived'`,
  )
}

/** The version to which a publication is moving users; undefined if none is. */
export const movingTo = async (ctx: ProjectCtx, journeyId: JourneyId): Promise<number | undefined> => {
  const all = (await sweepsOf(ctx, journeyId, ['publish'])).map(({ params }) => params as { version: number; isAgain?: true })
  return all.find(({ isAgain }) => !isAgain)?.version
}

const DueRow = Type.Object({ id: Type.Integer(), project_id: IdOf<ProjectId>() })

/** Sweeps that are left out: all of some projects, and single ones. */
type Left = { projects: Iterable<ProjectId>; sweeps: Iterable<number> }

/** The sweeps that are due: the longest overdue of each project first, then the second of each. */
export const dueSweeps = (ctx: Ctx, limit: number, { projects, sweeps }: Left) =>
  ctx.db.many(
    DueRow,
    sql`select id, project_id
        from (select id, project_id, next_at, row_number() over (partition by project_id order by next_at, id) as place
              from journey_sweeps
              where next_at <= ${ctx.clock.now()}
                and project_id <> all(${[...projects]}::bigint[]) and id <> all(${[...sweeps]}::bigint[])) due
        order by place, next_at
        limit ${limit}`,
  )

/** Locks a sweep that is due; undefined if another process has locked it, or if it is no longer due. */
export const claimSweep = (ctx: InTx, id: number) =>
  ctx.db.first(
    SweepRow,
    sql`select ${columns} from journey_sweeps
        where project_id = ${ctx.projectId} and id = ${id} and next_at <= ${ctx.clock.now()}
        for update skip locked`,
  )

/** Saves the progress of a sweep, and when it continues. Without a cursor it begins anew. */
export const saveSweep = (ctx: InTx, id: number, cursor: Cursor | null, nextAt: Date) =>
  ctx.db.run(
    sql`update journey_sweeps
        set cursor = ${cursor === null ? null : JSON.stringify(cursor)}::jsonb, next_at = ${nextAt},
            params = ${cursor === null ? sql`params - 'due_zone'` : sql`params`}
        where project_id = ${ctx.projectId} and id = ${id}`,
  )

export const deleteSweep = (ctx: InTx, id: number) => deleteSweepsById(ctx, [id])

export const deleteSweepsById = (ctx: InTx, ids: number[]) =>
  ctx.db.run(sql`delete from journey_sweeps where project_id = ${ctx.projectId} and id = any(${ids}::bigint[])`)

/**
 * When a schedule comes that has ended. It is kept, because without it a version with the same schedule would start it again, and so that it comes again
 * if its end was in a future that did not come.
 */
export const NEVER = new Date('9999-12-31T00:00:00Z')

/** Stops the schedules of a journey that is archived. They keep their starts. */
export const parkSchedules = (ctx: InTx, journeyId: JourneyId) =>
  ctx.db.run(
    sql`update journey_sweeps set next_at = ${NEVER}, cursor = null, params = params - 'due_zone'
        where project_id = ${ctx.projectId} and journey_id = ${journeyId} and kind = 'schedule'`,
  )

/** When the next sweep is due. */
export const nextSweepAt = async (ctx: Ctx): Promise<Date | null> =>
  (await ctx.db.first(NextRow, sql`select next_at from journey_sweeps order by next_at limit 1`))?.next_at ?? null

const NextRow = Type.Object({ next_at: Instant })

/** Counts an occurrence of a schedule that was missed because of an outage. */
export const noteMissed = (ctx: InTx, journeyId: JourneyId) =>
  ctx.db.run(
    sql`insert into journey_counts (project_id, journey_id, what, reason, users, at)
        values (${ctx.projectId}, ${journeyId}, 'refused', 'missed', 1, ${ctx.clock.now()})`,
  )

const Published = Type.Object({ published_at: Nullable(Instant) })

/** When a version was published. */
export const publishedAt = async (ctx: InTx, journeyId: JourneyId, version: number): Promise<Date | null> => {
  const found = await ctx.db.first(
    Published,
    sql`select published_at from journey_versions where project_id = ${ctx.projectId} and journey_id = ${journeyId} and version = ${version}`,
  )
  return found?.published_at ?? null
}
