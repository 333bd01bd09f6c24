import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { CampaignId, ProjectId, UserId } from '../../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../../lib/shapes.ts'
import { campaignColumns } from '../queries.ts'
import { CampaignRow } from '../schema.ts'

const CampaignKey = Type.Object({ id: IdOf<CampaignId>(), project_id: IdOf<ProjectId>() })

/** Scheduled blasts that are due and not paused. */
export const findDue = (ctx: Ctx, except: CampaignId[], limit: number) =>
  ctx.db.many(
    CampaignKey,
    sql`select id, project_id from campaigns
        where state = 'scheduled' and archived_at is null and paused_at is null and due_at <= ${ctx.clock.now()}
          and id <> all(${except}::bigint[])
        order by due_at, id
        limit ${limit}`,
  )

/** When the next scheduled blast is due. */
export const nextLaunchAt = async (ctx: Ctx): Promise<Date | null> =>
  (
    await ctx.db.first(
      DueRow,
      sql`select due_at from campaigns where state = 'scheduled' and archived_at is null and paused_at is null order by due_at limit 1`,
    )
  )?.due_at ?? null

const DueRow = Type.Object({ due_at: Nullable(Instant) })

/** Launches a blast that is still scheduled and due. Its audience is loaded from the start. */
export const begin = (ctx: ProjectCtx, id: CampaignId) =>
  ctx.db.run(
    sql`with begun as (
          update campaigns set state = 'loading', started_at = ${ctx.clock.now()}, updated_at = ${ctx.clock.now()}
          where project_id = ${ctx.projectId} and id = ${id} and state = 'scheduled' and archived_at is null
            and paused_at is null and due_at <= ${ctx.clock.now()}
          returning id
        )
        insert into campaign_audiences (campaign_id, project_id, touched_at)
        select id, ${ctx.projectId}, ${ctx.clock.now()} from begun
        on conflict (project_id, campaign_id) do update set loaded_to = 0, is_complete = false, touched_at = excluded.touched_at`,
  )

const isUnfinished = sql`not a.is_complete and c.state = 'loading' and c.paused_at is null and c.archived_at is null`

/** Incomplete audiences of loading campaigns, least recently loaded first. */
export const findUnfinished = (ctx: Ctx, except: CampaignId[], limit: number) =>
  ctx.db.many(
    CampaignKey,
    sql`select a.campaign_id as id, a.project_id
        from campaign_audiences a
        join campaigns c on c.id = a.campaign_id and c.project_id = a.project_id
        where ${isUnfinished} and a.campaign_id <> all(${except}::bigint[])
        order by a.touched_at, a.campaign_id
        limit ${limit}`,
  )

/** Since when an incomplete audience was not loaded further. */
export const unfinishedSince = async (ctx: Ctx): Promise<Date | null> =>
  (
    await ctx.db.first(
      UnfinishedRow,
      sql`select a.touched_at as since from campaign_audiences a
          join campaigns c on c.id = a.campaign_id and c.project_id = a.project_id
          where ${isUnfinished}
          order by a.touched_at, a.campaign_id
          limit 1`,
    )
  )?.since ?? null

const UnfinishedRow = Type.Object({ since: Instant })

const Audience = Type.Object({ loaded_to: Type.Unsafe<UserId>(Type.Integer()) })

/** Locks an audience that no other process is loading: only the holder of the lock makes messages of it. */
export const lockAudience = (ctx: InTx, id: CampaignId) =>
  ctx.db.first(
    Audience,
    sql`select loaded_to from campaign_audiences
        where project_id = ${ctx.projectId} and campaign_id = ${id} and not is_complete
        for update skip locked`,
  )

/** Locks a loading campaign, so that it is not stopped before the transaction ends. Senders are not blocked. */
export const lockLoading = (ctx: InTx, id: CampaignId) =>
  ctx.db.first(
    CampaignRow,
    sql`select ${campaignColumns} from campaigns
        where project_id = ${ctx.projectId} and id = ${id} and state = 'loading' and paused_at is null and archived_at is null
        for share`,
  )

const Reached = Type.Object({ is_reached: Type.Boolean() })

/** Whether an audience was loaded up to a user. */
export const isLoadedTo = async (ctx: ProjectCtx, id: CampaignId, userId: UserId): Promise<boolean> => {
  const row = await ctx.db.first(
    Reached,
    sql`select is_complete or loaded_to >= ${userId} as is_reached from campaign_audiences
        where project_id = ${ctx.projectId} and campaign_id = ${id}`,
  )
  return row?.is_reached ?? false
}

/** Saves that the audience is loaded up to a user. */
export const advance = (ctx: InTx, id: CampaignId, loadedTo: UserId, isComplete: boolean) =>
  ctx.db.run(
    sql`update campaign_audiences set loaded_to = ${loadedTo}, is_complete = ${isComplete}, touched_at = ${ctx.clock.now()}
        where project_id = ${ctx.projectId} and campaign_id = ${id}`,
  )

/** Moves campaigns with a complete audience from loading to running. A statement of its own: a crash before it loses nothing. */
export const runLoaded = (ctx: Ctx) =>
  ctx.db.run(
    sql`update campaigns c set state = 'running', updated_at = ${ctx.clock.now()}
        from (select l.id, l.project_id
              from campaigns l
              join campaign_audiences a on a.campaign_id = l.id and a.project_id = l.project_id and a.is_complete
              where l.type = 'blast' and l.state = 'loading' and l.archived_at is null
              order by l.id
              for update of l skip locked) loaded
        where c.id = loaded.id and c.project_id = loaded.project_id`,
  )
