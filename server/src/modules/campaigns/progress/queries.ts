import { type Static, Type } from 'typebox'
import { type Sql, sql } from '../../../infra/postgres/db.ts'
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, ProjectId } from '../../../lib/ids.ts'
import { Count, IdOf, Instant, Nullable, OneOf } from '../../../lib/shapes.ts'
import { CampaignRow, Winner, type WinnerNumbers } from '../schema.ts'

const CampaignKey = Type.Object({ id: IdOf<CampaignId>(), project_id: IdOf<ProjectId>() })

/** Campaigns with a pending action, also archived ones. */
export const findPendingActions = (ctx: Ctx, after: CampaignId, except: CampaignId[], limit: number) =>
  ctx.db.many(
    CampaignKey,
    sql`select id, project_id from campaigns
        where pending_action is not null and id > ${after} and id <> all(${except}::bigint[])
        order by id
        limit ${limit}`,
  )

const WaitingRow = Type.Object({ since: Instant })

/** Since when a campaign has had a pending action. */
export const pendingActionSince = async (ctx: Ctx): Promise<Date | null> =>
  (await ctx.db.first(WaitingRow, sql`select updated_at as since from campaigns where pending_action is not null order by id limit 1`))
    ?.since ?? null

const PendingActionRow = Type.Object({
  state: CampaignRow.properties.state,
  pending_action: OneOf(['hold', 'release', 'withdraw'] as const),
})
export type PendingActionRow = Static<typeof PendingActionRow>

const isFree = (hold: 'share' | 'update'): Sql => (hold === 'share' ? sql`for share skip locked` : sql`for update skip locked`)

/** Locks a campaign with a pending action: shared with senders, or exclusively. Undefined when it has none, or is locked already. */
export const lockPendingAction = (ctx: InTx, id: CampaignId, hold: 'share' | 'update') =>
  ctx.db.first(
    PendingActionRow,
    sql`select state, pending_action from campaigns
        where project_id = ${ctx.projectId} and id = ${id} and pending_action is not null
        ${isFree(hold)}`,
  )

/**
 * Ends the pending action of an exclusively locked campaign. A campaign that was aborted so that it can be sent at another time is
 * scheduled again, as if it were new.
 */
export const endPendingAction = (ctx: InTx, id: CampaignId) =>
  ctx.db.run(
    sql`update campaigns
        set pending_action = null,
            state = case when state = 'aborting' then 'scheduled' else state end,
            started_at = case when state = 'aborting' then null else started_at end,
            winner_variant = case when state = 'aborting' then null else winner_variant end,
            winner_numbers = case when state = 'aborting' then null else winner_numbers end,
            updated_at = case when state = 'aborting' then ${ctx.clock.now()}::timestamptz else updated_at end
        where project_id = ${ctx.projectId} and id = ${id}`,
  )

/** Running blasts, to be checked for their end. */
export const findRunning = (ctx: Ctx, after: CampaignId, except: CampaignId[], limit: number) =>
  ctx.db.many(
    CampaignKey,
    sql`select id, project_id from campaigns
        where type = 'blast' and state = 'running' and archived_at is null and id > ${after} and id <> all(${except}::bigint[])
        order by id
        limit ${limit}`,
  )

/** The newest running blasts that are not paused, and how many there are. */
export const findUnpaused = async (ctx: Ctx, limit: number) => {
  const found = sql`from campaigns where type = 'blast' and state = 'running' and archived_at is null and paused_at is null`
  return {
    blasts: await ctx.db.many(CampaignKey, sql`select id, project_id ${found} order by id desc limit ${limit}`),
    count: await ctx.db.value(Count, sql`select count(*) as count ${found}`),
  }
}

/** Since when a blast has been running. */
export const runningSince = async (ctx: Ctx): Promise<Date | null> =>
  (
    await ctx.db.first(
      WaitingRow,
      sql`select updated_at as since from campaigns where type = 'blast' and state = 'running' and archived_at is null order by id limit 1`,
    )
  )?.since ?? null

const OverRow = Type.Object({ id: IdOf<CampaignId>() })

/** The campaigns among these that will send nothing more. */
export const findOver = (ctx: ProjectCtx, ids: CampaignId[]) =>
  ctx.db.many(
    OverRow,
    sql`select id from campaigns
        where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) and (state in ('finished', 'aborted') or archived_at is not null)`,
  )

/** The blasts among these that may still send. */
export const blastsNotOver = (ctx: InTx, ids: CampaignId[]) =>
  ctx.db.many(
    OverRow,
    sql`select id from campaigns
        where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) and type = 'blast'
          and (pending_action is not null or (state not in ('finished', 'aborted') and archived_at is null))`,
  )

/** Finishes blasts whose messages are all final. */
export const finish = (ctx: ProjectCtx, ids: CampaignId[]) =>
  ctx.db.run(
    sql`update campaigns set state = 'finished', finished_at = ${ctx.clock.now()}, paused_at = null, paused_reason = null, updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) and type = 'blast' and state = 'running' and archived_at is null`,
  )

const Undecided = Type.Object({
  ...CampaignKey.properties,
  winner: Winner,
  variants: CampaignRow.properties.variants,
})
export type UndecidedCampaign = Static<typeof Undecided>

/** Blasts whose A/B test has lasted long enough. */
export const findUndecided = (ctx: Ctx, except: CampaignId[], limit: number) =>
  ctx.db.many(
    Undecided,
    sql`select id, project_id, winner, variants from campaigns
        where type = 'blast' and state = 'running' and archived_at is null
          and winner is not null and winner_variant is null and paused_at is null and id <> all(${except}::bigint[])
          and started_at + make_interval(mins => (winner ->> 'after_minutes')::int) <= ${ctx.clock.now()}
        order by id
        limit ${limit}`,
  )

/** When the next A/B test of a running blast has lasted long enough. */
export const nextChoiceAt = (ctx: Ctx): Promise<Date | null> =>
  ctx.db.value(
    Nullable(Instant),
    sql`select min(started_at + make_interval(mins => (winner ->> 'after_minutes')::int)) as due_at
        from campaigns
        where type = 'blast' and state = 'running' and archived_at is null
          and winner is not null and winner_variant is null and paused_at is null`,
  )

/** Saves the winner, unless there is one. */
export const saveWinner = (ctx: ProjectCtx, id: CampaignId, variant: number, numbers: WinnerNumbers) =>
  ctx.db.run(
    sql`update campaigns
        set winner_variant = ${variant}, winner_numbers = ${JSON.stringify(numbers)}::jsonb, updated_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and id = ${id} and state = 'running' and winner_variant is null`,
  )

const NumbersRow = Type.Object({ winner_numbers: Nullable(Type.Unsafe<WinnerNumbers>({ type: 'array' })) })

/** The numbers that decided on the winner; null while there is none. */
export const findWinnerNumbers = async (ctx: ProjectCtx, id: CampaignId): Promise<WinnerNumbers | null> =>
  (await ctx.db.first(NumbersRow, sql`select winner_numbers from campaigns where project_id = ${ctx.projectId} and id = ${id}`))
    ?.winner_numbers ?? null
