import { Type } from 'typebox'
import { type Db, sql } from '../../../infra/postgres/db.ts'
import { firstOfEach } from '../../../infra/postgres/first-of-each.ts'
import { callRows, type JointCall, joint, jointMany, jointRun } from '../../../infra/postgres/joint.ts'
import type { Ctx, InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ListId, ListVersionId, ProjectId, TrackerId, UserId } from '../../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../../lib/shapes.ts'
import type { Rule } from '../../rules/index.ts'

/**
 * Locks the memberships of a project until the end of the transaction. Partitions of a batch share the lock; a build takes it exclusively,
 * because no other change may be under way.
 */
export async function lockListsShared(ctx: InTx): Promise<void> {
  if (!sharing.has(ctx.db)) await lockAllShared(ctx, ctx.projectId, null)
}

/** The transactions that share the lock already, each of one project. */
const sharing = new WeakSet<Db>()

const lockAllShared = jointRun<null>((ctx, calls) =>
  ctx.db.run(sql`select pg_advisory_xact_lock_shared(hashtextextended('lists of a project', q.project_id)) from ${callRows(calls)}`),
)

const LockRow = Type.Object({ locked: Type.Boolean() })

/** Takes the shared lock, unless a transaction holds it exclusively now. Returns whether it has. */
export async function tryLockListsShared(ctx: InTx<Ctx>, projectId: ProjectId): Promise<boolean> {
  const isLocked = await tryLockAll(ctx, projectId, null)
  if (isLocked) sharing.add(ctx.db)
  return isLocked
}

const tryLockAll = joint<null, boolean>(async (ctx, calls) => {
  const rows = await ctx.db.many(
    LockRow,
    sql`select pg_try_advisory_xact_lock_shared(hashtextextended('lists of a project', q.project_id)) as locked from ${callRows(calls)} order by q.call`,
  )
  return rows.map(({ locked }) => locked)
})

const TRIES_MAX = 100
const PAUSE_S = 0.02

/**
 * Locks the memberships of a project exclusively. A transaction that waits for this lock makes all later ones that share it wait too, so
 * the lock is tried repeatedly, and waited for only after two seconds.
 */
export async function lockLists(ctx: InTx): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const [row] = await ctx.db.many(
      LockRow,
      sql`select pg_try_advisory_xact_lock(hashtextextended('lists of a project', ${ctx.projectId})) as locked`,
    )
    if (row?.locked) return
    await ctx.db.run(sql`select pg_sleep(${PAUSE_S})`)
  }
  await ctx.db.run(sql`select pg_advisory_xact_lock(hashtextextended('lists of a project', ${ctx.projectId}))`)
}

const VersionRow = Type.Object({
  id: IdOf<ListVersionId>(),
  list_id: IdOf<ListId>(),
  is_dynamic: Type.Boolean(),
  is_live: Type.Boolean(),
  is_scanned: Type.Boolean(),
  built_to: Type.Unsafe<UserId>(Type.Integer()),
  live_at: Nullable(Instant),
})
export type VersionRow = {
  id: ListVersionId
  list_id: ListId
  is_dynamic: boolean
  is_live: boolean
  is_scanned: boolean
  built_to: UserId
  live_at: Date | null
}

/** Every version that is live or being built, also those of static lists. The index needs the first condition. */
export const versionsInUse = (ctx: ProjectCtx): Promise<VersionRow[]> => findVersions(ctx, ctx.projectId, null)

const findVersions = jointMany(
  VersionRow,
  (_, calls: JointCall<null>[]) =>
    sql`select q.call, v.id, v.list_id, v.rule is not null as is_dynamic, v.status = 'live' as is_live, v.scan is not null as is_scanned,
               v.built_to, v.live_at
        from ${callRows(calls)}
        join list_versions v on v.project_id = q.project_id and v.status <> 'retired' and v.status <> 'archived'
        order by q.call, v.id`,
)

const RuleRow = Type.Object({ id: IdOf<ListVersionId>(), rule: Type.Unsafe<Rule>({}), tracker_ids: Type.Array(IdOf<TrackerId>()) })

export const rulesOf = (ctx: ProjectCtx, ids: ListVersionId[]) =>
  ctx.db.many(
    RuleRow,
    sql`select id, rule, tracker_ids from list_versions where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) and rule is not null`,
  )

const TimesRow = Type.Object({
  tracker_id: IdOf<TrackerId>(),
  user_id: IdOf<UserId>(),
  times: Type.Array(Type.Integer()),
  is_stale: Type.Boolean(),
})

const flattened = <K, V, T>(map: ReadonlyMap<K, Iterable<V>>, each: (key: K, value: V) => T): T[] => {
  const all: T[] = []
  for (const [key, values] of map) for (const value of values) all.push(each(key, value))
  return all
}

/** The tracked times of users. */
export const findTimes = (ctx: ProjectCtx, wanted: ReadonlyMap<TrackerId, ReadonlySet<UserId>>) =>
  ctx.db.many(
    TimesRow,
    sql`select t.tracker_id, t.user_id, t.times, t.is_stale
        from unnest(${flattened(wanted, (id) => id)}::bigint[], ${flattened(wanted, (_, userId) => userId)}::bigint[]) as w(tracker_id, user_id)
        join tracked_times t on t.tracker_id = w.tracker_id and t.user_id = w.user_id
        where t.project_id = ${ctx.projectId}`,
  )

export type SavedTimes = { tracker_id: TrackerId; user_id: UserId; times: readonly number[]; is_stale: boolean }

export const saveTimes = (ctx: InTx, saved: SavedTimes[]) =>
  ctx.db.run(
    sql`insert into tracked_times (project_id, tracker_id, user_id, times, is_stale)
        select ${ctx.projectId}, s.tracker_id, s.user_id, s.times::bigint[], s.is_stale
        from unnest(${saved.map(({ tracker_id }) => tracker_id)}::bigint[], ${saved.map(({ user_id }) => user_id)}::bigint[],
                    ${saved.map(({ times }) => `{${times.join()}}`)}::text[], ${saved.map(({ is_stale }) => is_stale)}::boolean[])
             as s(tracker_id, user_id, times, is_stale)
        on conflict (project_id, tracker_id, user_id) do update set times = excluded.times, is_stale = excluded.is_stale`,
  )

/** Marks the times of these users as incomplete: their latest events are to be read from `events`. */
export const markStale = (ctx: InTx, marks: ReadonlyMap<TrackerId, ReadonlySet<UserId>>) =>
  ctx.db.run(
    sql`insert into tracked_times (project_id, tracker_id, user_id, times, is_stale)
        select ${ctx.projectId}, m.tracker_id, m.user_id, '{}', true
        from unnest(${flattened(marks, (id) => id)}::bigint[], ${flattened(marks, (_, userId) => userId)}::bigint[]) as m(tracker_id, user_id)
        order by 2, 3
        on conflict (project_id, tracker_id, user_id) do update set is_stale = true`,
  )

const MembershipRow = Type.Object({
  user_id: IdOf<UserId>(),
  version_id: IdOf<ListVersionId>(),
  is_member: Type.Boolean(),
  next_check_at: Nullable(Instant),
})
export type MembershipRow = { user_id: UserId; version_id: ListVersionId; is_member: boolean; next_check_at: Date | null }

/** The memberships of these users in these versions. Users who are not members and need no later check have no row. */
export const findMemberships = (ctx: ProjectCtx, ids: UserId[], versionIds: ListVersionId[]): Promise<MembershipRow[]> =>
  ctx.db.many(
    MembershipRow,
    sql`select user_id, version_id, is_member, next_check_at from list_memberships
        where project_id = ${ctx.projectId} and user_id = any(${ids}::bigint[]) and version_id = any(${versionIds}::bigint[])`,
  )

export type SavedMembership = MembershipRow & { changed_at: Date }

export const saveMemberships = (ctx: InTx, saved: SavedMembership[]) =>
  ctx.db.run(
    sql`insert into list_memberships as p (project_id, version_id, user_id, is_member, changed_at, next_check_at)
        select ${ctx.projectId}, s.version_id, s.user_id, s.is_member, s.changed_at, s.next_check_at
        from unnest(${saved.map(({ version_id }) => version_id)}::bigint[], ${saved.map(({ user_id }) => user_id)}::bigint[],
                    ${saved.map(({ is_member }) => is_member)}::boolean[], ${saved.map(({ changed_at }) => changed_at)}::timestamptz[],
                    ${saved.map(({ next_check_at }) => next_check_at)}::timestamptz[]) as s(version_id, user_id, is_member, changed_at, next_check_at)
        on conflict (project_id, user_id, version_id) do update
        set is_member = excluded.is_member, next_check_at = excluded.next_check_at,
            changed_at = case when p.is_member = excluded.is_member then p.changed_at else excluded.changed_at end`,
  )

export const removeMemberships = (ctx: InTx, memberships: { user_id: UserId; version_id: ListVersionId }[]) =>
  ctx.db.run(
    sql`delete from list_memberships p
        using unnest(${memberships.map(({ version_id }) => version_id)}::bigint[], ${memberships.map(({ user_id }) => user_id)}::bigint[]) as g(version_id, user_id)
        where p.project_id = ${ctx.projectId} and p.user_id = g.user_id and p.version_id = g.version_id`,
  )

/** Adds to the number of members; each partition has its own row. */
export async function addToCounts(ctx: InTx, partition: number, counts: ReadonlyMap<ListVersionId, number>): Promise<void> {
  const changed = [...counts].filter(([, by]) => by !== 0).sort(([a], [b]) => a - b)
  if (changed.length === 0) return
  await ctx.db.run(
    sql`insert into list_counts as c (project_id, version_id, partition, members)
        select ${ctx.projectId}, n.version_id, ${partition}, n.by
        from unnest(${changed.map(([id]) => id)}::bigint[], ${changed.map(([, by]) => by)}::bigint[]) as n(version_id, by)
        on conflict (project_id, version_id, partition) do update set members = c.members + excluded.members`,
  )
}

const DueRow = Type.Object({ user_id: IdOf<UserId>(), version_id: IdOf<ListVersionId>() })

/** Due memberships, the longest overdue first. */
export const findDue = (ctx: ProjectCtx, limit: number) =>
  ctx.db.many(
    DueRow,
    sql`select user_id, version_id from list_memberships
        where project_id = ${ctx.projectId} and next_check_at <= ${ctx.clock.now()} order by next_check_at limit ${limit}`,
  )

/** Clears the due times of versions that are no longer maintained. */
export const clearDue = (ctx: InTx, due: { user_id: UserId; version_id: ListVersionId }[]) =>
  ctx.db.run(
    sql`update list_memberships p set next_check_at = null
        from unnest(${due.map(({ version_id }) => version_id)}::bigint[], ${due.map(({ user_id }) => user_id)}::bigint[]) as g(version_id, user_id)
        where p.project_id = ${ctx.projectId} and p.user_id = g.user_id and p.version_id = g.version_id`,
  )

const DueProject = Type.Object({ project_id: IdOf<ProjectId>() })

/** The first membership of each project to be checked. */
const nextChecks = firstOfEach('next_check', {
  table: sql`list_memberships`,
  keys: ['project_id'],
  order: ['next_check_at'],
  where: sql`next_check_at is not null`,
})

/** Projects with due memberships. */
export const projectsWithDueMemberships = (ctx: Ctx) =>
  ctx.db.many(DueProject, sql`with recursive ${nextChecks} select project_id from next_check where next_check_at <= ${ctx.clock.now()}`)

/** When the next membership is due, over all projects. */
export const nextMembershipDueAt = (ctx: Ctx): Promise<Date | null> =>
  ctx.db.value(Nullable(Instant), sql`with recursive ${nextChecks} select min(next_check_at) as due_at from next_check`)

/** Stores that the lists of all projects with rules are evaluated up to now, at most once every `everyMs`. */
export const noteTime = (ctx: Ctx, everyMs: number) => {
  const now = ctx.clock.now()
  return ctx.db.run(
    sql`insert into list_clocks as c (project_id, checked_to)
        select distinct project_id, ${now}::timestamptz from list_versions where status <> 'retired' and status <> 'archived' and rule is not null
        on conflict (project_id) do update set checked_to = excluded.checked_to
        where c.checked_to <= ${new Date(now.getTime() - everyMs)}`,
  )
}

/** Projects whose lists were evaluated up to an instant in the future: the clock was set back. */
export const projectsAhead = (ctx: Ctx, graceMs: number) =>
  ctx.db.many(
    DueProject,
    sql`select project_id from list_clocks where checked_to > ${new Date(ctx.clock.now().getTime() + graceMs)} order by 1`,
  )

export const setTime = (ctx: InTx) =>
  ctx.db.run(sql`update list_clocks set checked_to = ${ctx.clock.now()} where project_id = ${ctx.projectId}`)
