import { Type } from 'typebox'
import { fence, sql } from '../../infra/postgres/db.ts'
import type { Ctx, InTx } from '../../infra/runtime/ctx.ts'
import type { CampaignId, JourneyId, MessageId, UserId } from '../../lib/ids.ts'
import { DAY_MS } from '../../lib/times.ts'
import { idsToErase } from '../users/index.ts'
import { ActivityRow } from './schema.ts'

export type NewActivity = {
  type: string
  user_id: UserId
  message_id: MessageId | null
  campaign_id: CampaignId | null
  journey_id: JourneyId | null
  data: object
  created_at: Date
}

/** Stores activity, if the project polls it. */
export const insertActivity = (ctx: InTx, activity: NewActivity[]) =>
  ctx.db.run(
    sql`insert into activity (project_id, type, user_id, message_id, campaign_id, journey_id, data, created_at, stored_at)
        select f.project_id, a.type, a.user_id, a.message_id, a.campaign_id, a.journey_id, a.data, a.created_at, ${ctx.clock.now()}
        from activity_feeds f
        cross join jsonb_to_recordset(${JSON.stringify(activity)}::jsonb)
             as a(type text, user_id bigint, message_id bigint, campaign_id bigint, journey_id bigint, data jsonb, created_at timestamptz)
        where f.project_id = ${ctx.projectId}`,
  )

const FeedRow = Type.Object({ last_position: Type.Integer() })

/** Locks the feed of the project, which begins now if there was none. One request at a time gives positions. */
export const lockFeed = (ctx: InTx) =>
  ctx.db.one(
    FeedRow,
    sql`insert into activity_feeds as f (project_id, last_position, created_at) values (${ctx.projectId}, 0, ${ctx.clock.now()})
        on conflict (project_id) do update set last_position = f.last_position
        returning last_position`,
  )

/** Gives positions to activity that has none, which is all committed. */
export const givePositions = (ctx: InTx, after: number, limit: number) =>
  ctx.db.run(
    sql`with fresh as materialized (
          select id, row_number() over (order by id) as place
          from (select id from activity where project_id = ${ctx.projectId} and position is null order by id limit ${limit}) oldest
        ), numbered as (
          update activity a set position = ${after} + fresh.place from fresh where a.project_id = ${ctx.projectId} and a.id = fresh.id
        )
        update activity_feeds set last_position = last_position + (select count(*) from fresh) where project_id = ${ctx.projectId}`,
  )

/** Activity after a position, in order, without that of users who are being erased. */
export const activityAfter = (ctx: InTx, position: number, limit: number) =>
  ctx.db.many(
    ActivityRow,
    sql`select id, position, type, user_id, message_id, campaign_id, journey_id, data, created_at from activity
        where project_id = ${ctx.projectId} and position > ${position} and user_id not in ${idsToErase(ctx)}
        order by position
        limit ${limit}`,
  )

/** Deletes what erased users did. */
export const eraseActivity = (ctx: InTx, userIds: UserId[]) =>
  ctx.db.run(sql`delete from activity where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[])`)

const KEPT_MS = 30 * DAY_MS

/** Deletes activity that is too old to be polled. */
export const purgeActivity = (ctx: Ctx, limit: number) =>
  ctx.db.run(
    sql`delete from activity a
        using (select project_id, id from activity
               where stored_at < ${new Date(ctx.clock.now().getTime() - KEPT_MS)}
               order by stored_at
               limit ${limit}
               ${fence}) old
        where a.project_id = old.project_id and a.id = old.id`,
  )
