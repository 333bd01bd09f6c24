import { type Static, Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import { leaseEnd, leaseNow, ownTimeOf } from '../../../infra/runtime/lease-time.ts'
import type { BacktestId, JourneyId, ProjectId } from '../../../lib/ids.ts'
import { Count, IdOf, Instant } from '../../../lib/shapes.ts'
import { type BacktestParams, type BacktestResult, BacktestRow } from './schema.ts'

const columns = sql`id, state, params, users_total, users_done, result, created_at, finished_at`

/** Takes the lock under which backtests of a project are counted and begun. */
export const lockBacktests = (ctx: InTx) =>
  ctx.db.run(sql`select pg_advisory_xact_lock(hashtextextended('backtests ' || ${String(ctx.projectId)}, 0))`)

export const countSince = (ctx: ProjectCtx, since: Date): Promise<number> =>
  ctx.db.value(Count, sql`select count(*) as count from journey_backtests where project_id = ${ctx.projectId} and created_at > ${since}`)

export const countRunning = (ctx: ProjectCtx): Promise<number> =>
  ctx.db.value(Count, sql`select count(*) as count from journey_backtests where project_id = ${ctx.projectId} and state = 'running'`)

export const insertBacktest = (ctx: InTx, journeyId: JourneyId, params: BacktestParams) =>
  ctx.db.one(
    BacktestRow,
    sql`insert into journey_backtests (project_id, journey_id, state, params, created_at)
        values (${ctx.projectId}, ${journeyId}, 'running', ${JSON.stringify(params)}::jsonb, ${ctx.clock.now()})
        returning ${columns}`,
  )

export const findBacktest = (ctx: ProjectCtx, journeyId: JourneyId, id: BacktestId) =>
  ctx.db.first(
    BacktestRow,
    sql`select ${columns} from journey_backtests where project_id = ${ctx.projectId} and journey_id = ${journeyId} and id = ${id}`,
  )

/** Cancels a running backtest, or deletes the result of a finished one. False if there is none. */
export const cancelBacktest = async (ctx: ProjectCtx, journeyId: JourneyId, id: BacktestId): Promise<boolean> => {
  const changed = await ctx.db.run(
    sql`update journey_backtests
        set state = 'cancelled', result = null, finished_at = coalesce(finished_at, ${ctx.clock.now()})
        where project_id = ${ctx.projectId} and journey_id = ${journeyId} and id = ${id}`,
  )
  return changed > 0
}

const DueRow = Type.Object({
  id: IdOf<BacktestId>(),
  project_id: IdOf<ProjectId>(),
  journey_id: IdOf<JourneyId>(),
  params: Type.Unsafe<BacktestParams>({}),
  attempts: Type.Integer(),
  lease_token: Type.String(),
})
/** A backtest that a job has claimed. */
export type DueBacktest = Static<typeof DueRow>

/** Claims backtests that no other process computes. */
export const claimBacktests = (ctx: InTx<Ctx>, limit: number, token: string, leaseUntil: Date) =>
  ctx.db.many(
    DueRow,
    sql`with due as (
          select project_id, id from journey_backtests
          where state = 'running' and (lease_until is null or lease_until <= ${leaseNow(ctx)})
          order by created_at
          limit ${limit}
          for update skip locked
        )
        update journey_backtests b
        set lease_token = ${token}, lease_until = ${leaseEnd(ctx, leaseUntil)}, attempts = attempts + 1, users_done = 0
        from due
        where b.project_id = due.project_id and b.id = due.id
        returning b.id, b.project_id, b.journey_id, b.params, b.attempts, b.lease_token`,
  )

const NextRow = Type.Object({ at: Instant })

/** When the next backtest can be claimed. */
export const nextBacktestAt = async (ctx: Ctx): Promise<Date | null> => {
  const row = await ctx.db.first(
    NextRow,
    sql`select coalesce(${ownTimeOf(ctx, sql`lease_until`)}, created_at) as at from journey_backtests where state = 'running' order by 1 limit 1`,
  )
  return row?.at ?? null
}

type Claimed = Pick<DueBacktest, 'id' | 'lease_token'>

/** Saves the progress of a claimed backtest, and renews the lease. False if it was cancelled, or claimed by another process. */
export const saveProgress = async (ctx: ProjectCtx, { id, lease_token }: Claimed, done: number, total: number, leaseUntil: Date) => {
  const changed = await ctx.db.run(
    sql`update journey_backtests set users_done = ${done}, users_total = ${total}, lease_until = ${leaseEnd(ctx, leaseUntil)}
        where project_id = ${ctx.projectId} and id = ${id} and state = 'running' and lease_token = ${lease_token}`,
  )
  return changed > 0
}

/** Ends a claimed backtest, with its result or because it failed. */
export const endBacktest = (ctx: ProjectCtx, { id, lease_token }: Claimed, result: BacktestResult | null) =>
  ctx.db.run(
    sql`update journey_backtests
        set state = ${result === null ? 'failed' : 'finished'}, result = ${result === null ? null : JSON.stringify(result)}::jsonb,
            finished_at = ${ctx.clock.now()}, lease_until = null
        where project_id = ${ctx.projectId} and id = ${id} and state = 'running' and lease_token = ${lease_token}`,
  )

const OldBacktest = Type.Object({ id: Type.Integer(), created_at: Instant })

/** The next backtests after an id. */
export const nextBacktests = (ctx: InTx, after: number, limit: number) =>
  ctx.db.many(
    OldBacktest,
    sql`select id, created_at from journey_backtests where project_id = ${ctx.projectId} and id > ${after} order by id limit ${limit}`,
  )

const IdRow = Type.Object({ id: Type.Integer() })

/** Deletes those of these backtests that are over. */
export const deleteBacktests = (ctx: InTx, ids: number[]) =>
  ctx.db.many(
    IdRow,
    sql`delete from journey_backtests
        where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) and state <> 'running'
        returning id`,
  )
