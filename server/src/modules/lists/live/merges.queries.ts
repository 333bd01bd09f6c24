import { Type } from 'typebox'
import { fence, sql } from '../../../infra/postgres/db.ts'
import type { InTx } from '../../../infra/runtime/ctx.ts'
import type { ListId, ListVersionId, TrackerId, UserId } from '../../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../../lib/shapes.ts'

const ChangedRow = Type.Object({ user_id: IdOf<UserId>(), version_id: IdOf<ListVersionId>() })

/** Adds users to the live version of a static list. Returns those who were not members. */
export const insertMembers = (ctx: InTx, listId: ListId, ids: UserId[]) =>
  ctx.db.many(
    ChangedRow,
    sql`insert into list_memberships as p (project_id, version_id, user_id, is_member, changed_at)
        select ${ctx.projectId}, l.live_version_id, i.id, true, ${ctx.clock.now()}
        from (select distinct id from unnest(${ids}::bigint[]) as i(id)) i
        join lists l on l.project_id = ${ctx.projectId} and l.id = ${listId} and l.type = 'static'
        order by i.id
        on conflict (project_id, user_id, version_id) do nothing
        returning p.user_id, p.version_id`,
  )

/** The version that has the members of a static list: the live one, or the one that an archived list keeps. */
const versionOf = ({ projectId }: InTx, listId: ListId) =>
  sql`(select coalesce(l.live_version_id, (select max(v.id) from list_versions v
                                           where v.project_id = l.project_id and v.list_id = l.id and v.status = 'archived'))
       from lists l where l.project_id = ${projectId} and l.id = ${listId} and l.type = 'static')`

/** Removes users from a static list, also from an archived one. Returns those who were members. */
export const deleteMembers = (ctx: InTx, listId: ListId, ids: UserId[]) =>
  ctx.db.many(
    ChangedRow,
    sql`delete from list_memberships p
        where p.project_id = ${ctx.projectId} and p.version_id = ${versionOf(ctx, listId)} and p.user_id = any(${ids}::bigint[])
        returning p.user_id, p.version_id`,
  )

/** Members of a static list, also of an archived one, who became members at an instant or before it. */
export const membersSince = (ctx: InTx, listId: ListId, given: { user_id: UserId; at: Date }[]) =>
  ctx.db.many(
    ChangedRow,
    sql`select found.*
        from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as g(user_id bigint, at timestamptz)
        cross join lateral (
          select p.user_id, p.version_id from list_memberships p
          where p.project_id = ${ctx.projectId} and p.user_id = g.user_id and p.is_member and p.changed_at <= g.at
            and p.version_id = ${versionOf(ctx, listId)}
          ${fence}
        ) found`,
  )

const MemberRow = Type.Object({ user_id: IdOf<UserId>() })

/** The users among these who are in another static list, also an archived one: it may be restored. */
export const membersElsewhere = (ctx: InTx, listId: ListId, ids: UserId[]) =>
  ctx.db.many(
    MemberRow,
    sql`select distinct p.user_id
        from list_memberships p
        join list_versions v on v.project_id = ${ctx.projectId} and v.id = p.version_id and v.status in ('live', 'archived') and v.rule is null
        where p.project_id = ${ctx.projectId} and p.user_id = any(${ids}::bigint[]) and p.is_member and v.list_id <> ${listId}`,
  )

const LostRow = Type.Object({ user_id: IdOf<UserId>(), version_id: IdOf<ListVersionId>(), is_member: Type.Boolean() })

/** Deletes the memberships of users in every list. */
export const deleteMemberships = (ctx: InTx, ids: UserId[]) =>
  ctx.db.many(
    LostRow,
    sql`delete from list_memberships where project_id = ${ctx.projectId} and user_id = any(${ids}::bigint[]) returning user_id, version_id, is_member`,
  )

/** Adds users to versions of static lists. Archived lists keep up with merges. Returns those who were not members; retired versions are left out. */
export const inheritMembers = (ctx: InTx, mergeTargets: { user_id: UserId; version_id: ListVersionId }[]) =>
  ctx.db.many(
    ChangedRow,
    sql`insert into list_memberships as p (project_id, version_id, user_id, is_member, changed_at)
        select distinct ${ctx.projectId}::bigint, h.version_id, h.user_id, true, ${ctx.clock.now()}::timestamptz
        from unnest(${mergeTargets.map(({ version_id }) => version_id)}::bigint[], ${mergeTargets.map(({ user_id }) => user_id)}::bigint[]) as h(version_id, user_id)
        join list_versions v on v.project_id = ${ctx.projectId} and v.id = h.version_id and v.status in ('live', 'archived') and v.rule is null
        order by 3, 2
        on conflict (project_id, user_id, version_id) do nothing
        returning p.user_id, p.version_id`,
  )

const TrackedRow = Type.Object({
  tracker_id: IdOf<TrackerId>(),
  user_id: IdOf<UserId>(),
  times: Type.Array(Type.Integer()),
  is_stale: Type.Boolean(),
})

const FormerRow = Type.Object({ tracker_id: IdOf<TrackerId>(), user_id: IdOf<UserId>() })

/** Deletes and returns the tracked times of users. */
export const removeTimes = (ctx: InTx, trackerIds: TrackerId[], ids: UserId[]) =>
  ctx.db.many(
    TrackedRow,
    sql`delete from tracked_times
        where project_id = ${ctx.projectId} and tracker_id = any(${trackerIds}::bigint[]) and user_id = any(${ids}::bigint[])
        returning tracker_id, user_id, times, is_stale`,
  )

/** Deletes the tracked times of users who were merged into these. Returns the users they were merged into. */
export const takeFormerTimes = (ctx: InTx, trackerIds: TrackerId[], mergedInto: UserId[]) =>
  ctx.db.many(
    FormerRow,
    sql`delete from tracked_times t using users m
        where m.project_id = ${ctx.projectId} and m.merged_into = any(${mergedInto}::bigint[])
          and t.project_id = ${ctx.projectId} and t.tracker_id = any(${trackerIds}::bigint[]) and t.user_id = m.id
        returning t.tracker_id, m.merged_into as user_id`,
  )

/** When the first of these users was merged. */
export const firstMerged = async (ctx: InTx, ids: UserId[]): Promise<Date | null> =>
  await ctx.db.value(
    Nullable(Instant),
    sql`select min(merged_at) as first from users where project_id = ${ctx.projectId} and id = any(${ids}::bigint[])`,
  )

const TrackerRow = Type.Object({ tracker_id: IdOf<TrackerId>() })

/** Every tracker that may have times, including those of retired versions. */
export const allTrackers = (ctx: InTx) =>
  ctx.db.many(TrackerRow, sql`select unnest(tracker_ids) as tracker_id from list_versions where project_id = ${ctx.projectId}`)
