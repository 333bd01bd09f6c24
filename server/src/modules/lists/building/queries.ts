import { type Static, Type } from 'typebox'
import { raw, sql, unprepared } from '../../../infra/postgres/db.ts'
import { firstOfEach } from '../../../infra/postgres/first-of-each.ts'
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ListId, ListVersionId, ProjectId, TrackerId, UserId } from '../../../lib/ids.ts'
import { Count, Flag, IdOf, Instant, Nullable, OneOf } from '../../../lib/shapes.ts'
import { matchesEventSql, type Rule, type RuleSql, type Tracker } from '../../rules/index.ts'
import { isLiveUser, isLiveUserRow } from '../../users/index.ts'
import { inWindow, keptTimesOfEvents } from '../live/times.queries.ts'

const Unfinished = Type.Object({ id: IdOf<ListVersionId>(), project_id: IdOf<ProjectId>() })

const firstUnfinished = firstOfEach('oldest', {
  table: sql`list_versions`,
  keys: ['project_id'],
  order: ['id'],
  where: sql`status in ('filling', 'building')`,
})

/** The oldest version of each project that is being built, oldest first. */
export const findUnfinished = (ctx: Ctx) =>
  ctx.db.many(Unfinished, sql`with recursive ${firstUnfinished} select id, project_id from oldest order by id`)

const IdRow = Type.Object({ id: IdOf<ListVersionId>() })

/** The oldest versions of the project that are being built, oldest first. */
export const oldestUnfinished = async (ctx: ProjectCtx, limit: number): Promise<ListVersionId[]> =>
  (
    await ctx.db.many(
      IdRow,
      sql`select id from list_versions where project_id = ${ctx.projectId} and status in ('filling', 'building') order by id limit ${limit}`,
    )
  ).map(({ id }) => id)

/** The next version of the project that is being built after this one. */
export const unfinishedAfter = async (ctx: ProjectCtx, after: ListVersionId): Promise<ListVersionId | undefined> =>
  (
    await ctx.db.first(
      IdRow,
      sql`select id from list_versions
          where project_id = ${ctx.projectId} and id > ${after} and status in ('filling', 'building') order by id limit 1`,
    )
  )?.id

/** When the oldest unfinished version was created; null if there is none. Unfinished versions always wait for their next chunk. */
export const nextChunkAt = async (ctx: Ctx): Promise<Date | null> =>
  (await ctx.db.first(WaitingRow, sql`select created_at from list_versions where status in ('filling', 'building') order by id limit 1`))
    ?.created_at ?? null

const WaitingRow = Type.Object({ created_at: Instant })

/** The next page of a scan and its partition. A new scan starts at an empty name and page 0. */
export type ScanPosition = { partition: string; page: number }

const Building = Type.Object({
  list_id: IdOf<ListId>(),
  rule: Type.Unsafe<Rule>({}),
  tracker_ids: Type.Array(IdOf<TrackerId>()),
  status: OneOf(['filling', 'building'] as const),
  scan: Nullable(Type.Unsafe<ScanPosition>({})),
  built_to: Type.Unsafe<UserId>(Type.Integer()),
  ids_from: Nullable(IdOf<UserId>()),
  ids_to: Nullable(IdOf<UserId>()),
  live_version_id: Nullable(IdOf<ListVersionId>()),
})

export type Building = Static<typeof Building>

/** Locks a version that is being built. Returns undefined for any other. */
export const lockBuilding = (ctx: InTx, id: ListVersionId) =>
  ctx.db.first(
    Building,
    sql`select list_id, rule, tracker_ids, status, scan, built_to, ids_from, ids_to,
               (select l.live_version_id from lists l where l.project_id = v.project_id and l.id = v.list_id) as live_version_id
        from list_versions v
        where project_id = ${ctx.projectId} and id = ${id} and status in ('filling', 'building') for update`,
  )

/** Saves the ids of the first user of the project and of the last one, for the progress of the build. Returns the first. */
export const saveBounds = (ctx: InTx, id: ListVersionId): Promise<UserId> =>
  ctx.db.value(
    IdOf<UserId>(),
    sql`update list_versions
        set ids_from = coalesce((select min(u.id) from users u where u.project_id = ${ctx.projectId} and ${isLiveUser}), 1),
            ids_to = coalesce((select max(u.id) from users u where u.project_id = ${ctx.projectId} and ${isLiveUser}), 1)
        where project_id = ${ctx.projectId} and id = ${id}
        returning ids_from`,
  )

/** Whether the project has at least this many users. */
export const hasUsers = (ctx: InTx, number: number): Promise<boolean> =>
  ctx.db.value(
    Flag,
    sql`select count(*) >= ${number} as has
        from (select 1 from users u where u.project_id = ${ctx.projectId} and ${isLiveUser} limit ${number}) found`,
  )

const Chunk = Type.Object({ count: Type.Integer(), last: Nullable(Type.Unsafe<UserId>(Type.Integer())) })

/** The next live users after an id: their number, and the last of them. */
export const findChunk = (ctx: InTx, after: UserId, size: number) =>
  ctx.db.first(
    Chunk,
    sql`select count(*) as count, max(id) as last
        from (select u.id from users u
              where u.project_id = ${ctx.projectId} and u.id > ${after} and ${isLiveUser}
              order by u.id limit ${size}) next`,
  )

/**
 * Fills the times of a tracker for the users with an id above `after` and up to `last` from all their events, including those stored under
 * merged ids.
 */
export const fillTimes = (ctx: InTx, id: TrackerId, tracker: Tracker, after: UserId, last: UserId) =>
  ctx.db.run(
    unprepared(sql`insert into tracked_times (project_id, tracker_id, user_id, times)
        select ${ctx.projectId}, ${id}, p.merged_into, ${keptTimesOfEvents(ctx, tracker)}
        from (select u.id, u.id as merged_into from users u
              where u.project_id = ${ctx.projectId} and u.id > ${after} and u.id <= ${last} and ${isLiveUserRow}
              union all
              select m.id, m.merged_into from users m
              where m.project_id = ${ctx.projectId} and m.merged_into > ${after} and m.merged_into <= ${last}) p
        join events e on e.user_id = p.id and e.project_id = ${ctx.projectId} and ${inWindow(ctx, tracker)} and ${matchesEventSql(tracker)}
        group by p.merged_into`),
  )

/**
 * Fills the memberships of the users with an id above `after` and up to `last`. Users who are not members and need no later check get no
 * row. Members of the live version became members when they did there.
 */
export async function fillUsers(
  ctx: InTx,
  id: ListVersionId,
  { columns, joins, holds, nextChangeAt, isTimed, readsUsers }: RuleSql,
  after: UserId,
  last: UserId,
  live: ListVersionId | null = null,
): Promise<number> {
  // The tracked times were written by this transaction, so PostgreSQL believes that there are none, and would read all of them for each user.
  // The rows of users are read page by page, which takes half as long as one by one along the index.
  const avoided = ['enable_nestloop', ...(readsUsers ? ['enable_indexscan'] : [])]
  await allow(ctx, avoided, false)
  const isLive = readsUsers || !(await hasUserStatistics(ctx)) ? isLiveUserRow : isLiveUser
  const users = sql`(select u.id, ${columns} from users u ${joins}
                     where u.project_id = ${ctx.projectId} and u.id > ${after} and u.id <= ${last} and ${isLive}) p`
  const [isMember, which] = isTimed ? [holds, raw('offset 0')] : [sql`true`, sql`where ${holds}`]
  const now = ctx.clock.now()
  const [since, before] =
    live === null
      ? [sql`${now}`, sql``]
      : [sql`least(b.changed_at, ${now})`, sql`left join ${membersBetween(ctx, live, after, last)} b on b.user_id = e.id and e.is_member`]
  const saved = await ctx.db.run(
    unprepared(
      sql`insert into list_memberships (project_id, version_id, user_id, is_member, changed_at, next_check_at)
          select ${ctx.projectId}, ${id}, e.id, e.is_member, ${since}, e.next_check_at
          from (select p.id, ${isMember} as is_member, ${nextChangeAt} as next_check_at from ${users} ${which}) e ${before}
          where e.is_member or e.next_check_at is not null`,
    ),
  )
  await allow(ctx, avoided, true)
  // Looking at the rows afterwards takes less time than having them returned.
  return isTimed ? countMembers(ctx, id, after, last) : saved
}

const membersBetween = (ctx: InTx, id: ListVersionId, after: UserId, last: UserId) =>
  sql`(select user_id, changed_at from list_memberships
       where project_id = ${ctx.projectId} and version_id = ${id} and user_id > ${after} and user_id <= ${last} and is_member)`

/** Whether PostgreSQL has statistics of users. Only then does it choose the right one of the indexes of live users, which hold their ids. */
const hasUserStatistics = (ctx: InTx): Promise<boolean> =>
  ctx.db.value(Flag, sql`select reltuples > 0 as has from pg_class where oid = 'users'::regclass`)

const countMembers = (ctx: InTx, id: ListVersionId, after: UserId, last: UserId): Promise<number> =>
  ctx.db.value(
    Count,
    sql`select count(*) as members from list_memberships
        where project_id = ${ctx.projectId} and version_id = ${id} and user_id > ${after} and user_id <= ${last} and is_member`,
  )

/** Allows the planner its methods of this transaction, or has it avoid them. */
const allow = (ctx: InTx, methods: string[], areAllowed: boolean) =>
  ctx.db.run(sql`select set_config(name, ${areAllowed ? 'on' : 'off'}, true) from unnest(${methods}::text[]) as name`)

export const advance = (ctx: InTx, id: ListVersionId, last: UserId) =>
  ctx.db.run(sql`update list_versions set built_to = ${last} where project_id = ${ctx.projectId} and id = ${id}`)

const Members = Type.Object({ members: Type.Integer() })

/** Deletes the memberships of a version of the users with an id above `after` and up to `until`. Returns how many of them were members. */
export const removeRange = async (ctx: InTx, id: ListVersionId, after: number, until: number): Promise<number> =>
  (
    await ctx.db.first(
      Members,
      sql`with removed as (
            delete from list_memberships
            where project_id = ${ctx.projectId} and version_id = ${id} and user_id > ${after} and user_id <= ${until}
            returning is_member
          )
          select count(*) filter (where is_member) as members from removed`,
    )
  )?.members ?? 0

/** Deletes the times of trackers of these users. */
export const removeTimesInRange = (ctx: InTx, trackerIds: TrackerId[], after: number, until: number) =>
  ctx.db.run(
    sql`delete from tracked_times where project_id = ${ctx.projectId} and tracker_id = any(${trackerIds}::bigint[])
          and user_id > ${after} and user_id <= ${until}`,
  )

/** Marks the times of trackers of these users as stale, so that they are read again from events. */
export const markRangeStale = (ctx: InTx, trackerIds: TrackerId[], after: number, until: number) =>
  ctx.db.run(
    sql`update tracked_times set is_stale = true where project_id = ${ctx.projectId} and tracker_id = any(${trackerIds}::bigint[])
          and user_id > ${after} and user_id <= ${until}`,
  )

const Retired = Type.Object({ id: IdOf<ListVersionId>(), project_id: IdOf<ProjectId>() })

/** Versions, without some, whose rows are to be deleted, in projects without a build, which comes first. */
export const findRetired = (ctx: Ctx, without: ListVersionId[]) =>
  ctx.db.many(
    Retired,
    sql`select id, project_id from list_versions v
        where status = 'retired' and id <> all(${without}::bigint[])
          and not exists (select 1 from list_versions o where o.project_id = v.project_id and o.status in ('filling', 'building'))
        order by id limit 20`,
  )

/** Deletes some rows of a retired version; 0 when none are left. */
export const removeSome = async (ctx: ProjectCtx, id: ListVersionId, limit: number): Promise<number> => {
  const users = await ctx.db.run(
    sql`delete from list_memberships where project_id = ${ctx.projectId} and version_id = ${id} and user_id = any(array(
          select user_id from (
            (select user_id from list_memberships where project_id = ${ctx.projectId} and version_id = ${id} and is_member limit ${limit})
            union all
            (select user_id from list_memberships where project_id = ${ctx.projectId} and version_id = ${id} and not is_member limit ${limit})
          ) found))`,
  )
  const times = await ctx.db.run(
    sql`delete from tracked_times t
        using (select e.tracker_id, e.user_id from list_versions v join tracked_times e on e.tracker_id = any(v.tracker_ids)
               where v.project_id = ${ctx.projectId} and v.id = ${id} and e.project_id = ${ctx.projectId} limit ${limit}) found
        where t.project_id = ${ctx.projectId} and t.tracker_id = found.tracker_id and t.user_id = found.user_id`,
  )
  return users + times
}

/** Deletes a retired version, after all its rows. */
export const removeVersion = (ctx: ProjectCtx, id: ListVersionId) =>
  ctx.db.run(
    sql`with counts as (delete from list_counts where project_id = ${ctx.projectId} and version_id = ${id}),
             parts as (delete from list_build_parts where project_id = ${ctx.projectId} and version_id = ${id})
        delete from list_versions where project_id = ${ctx.projectId} and id = ${id} and status = 'retired'`,
  )

const ScannedRow = Type.Object({ id: IdOf<ListVersionId>() })

/** The versions of a project with a table of matches, or that had one. */
export const scannedVersions = (ctx: InTx) =>
  ctx.db.many(ScannedRow, sql`select id from list_versions where project_id = ${ctx.projectId} and scan is not null order by id`)

/** Removes the live version from all lists of a project. */
export const releaseLists = (ctx: InTx) =>
  ctx.db.run(sql`update lists set live_version_id = null where project_id = ${ctx.projectId} and live_version_id is not null`)
