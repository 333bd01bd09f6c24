import { type Static, Type } from 'typebox'
import { fence, raw, sql } from '../../infra/postgres/db.ts'
import { callRows, type JointCall, jointMany } from '../../infra/postgres/joint.ts'
import type { Ctx, InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { ProjectId, UserId } from '../../lib/ids.ts'
import { IdOf, Nullable } from '../../lib/shapes.ts'
import { UserRow } from './schema.ts'

/** Of `users u`: the columns of a `UserRow`. */
export const columns = sql`u.id, u.project_id, u.external_id, u.anonymous_id, u.email, u.phone, u.timezone, u.locale, u.data, u.has_push_device, u.created_at, u.updated_at`

/** Of `users u`: neither merged into another user nor being erased. The indexes of live users have the same condition. */
export const isLive = sql`u.merged_into is null and u.erase_requested_at is null`

/**
 * `isLive`, for users that are looked up by their keys. PostgreSQL does not see that the indexes of live users have this condition: before it has
 * looked at a table, it believes that each of those holds one row, and would read the one in the order of creation from end to end.
 */
export const isLiveRow = sql`(u.merged_into is null) is true and (u.erase_requested_at is null) is true`

const AliasRow = Type.Object({ anonymous_id: Type.String(), user_id: IdOf<UserId>() })

/** The users of these anonymous ids; locked, always in the same order. */
export const lockAliases = (ctx: InTx, anonymousIds: string[]) =>
  ctx.db.many(
    AliasRow,
    sql`select anonymous_id, user_id from user_anonymous_ids
        where project_id = ${ctx.projectId} and anonymous_id = any(${anonymousIds}::text[])
        order by anonymous_id
        for update`,
  )

const LockedUser = Type.Object({ ...UserRow.properties, aliases: Nullable(Type.Array(Type.String())) })
export type LockedUser = Static<typeof LockedUser>

/** Users by external id or id; locked, always in the same order. Their anonymous ids are read only when asked for. */
export const lockUsers = (ctx: InTx, externalIds: string[], ids: UserId[], withAliases: boolean) =>
  lockAll(ctx, ctx.projectId, { external_ids: externalIds, ids, with_aliases: withAliases })

/**
 * Tells PostgreSQL that a request is one call, not a hundred. It would expect the statement to cost so much that it plans it each time while users
 * become more, which takes as long as running it.
 */
const ONE_CALL = raw('limit 1')

type Locked = { external_ids: string[]; ids: UserId[]; with_aliases: boolean }

const lockAll = jointMany(
  LockedUser,
  (_, calls: JointCall<Locked>[]) =>
    sql`select q.call, r.*
        from (select * from ${callRows(calls, sql`external_ids text[], ids bigint[], with_aliases boolean`, (locked) => locked)}
              ${calls.length === 1 ? ONE_CALL : sql``}) q
        cross join lateral (
          select ${columns},
                 case when q.with_aliases then (select array_agg(a.anonymous_id order by a.linked_at, a.anonymous_id)
                  from user_anonymous_ids a where a.user_id = u.id and a.project_id = q.project_id) end as aliases
          from users u
          where u.project_id = q.project_id
            and u.id = any(array(select e.id from users e
                                 where e.project_id = q.project_id and e.external_id = any(q.external_ids) and e.erase_requested_at is null)
                           || q.ids)
            and ${isLiveRow}
          order by u.id
          for update
        ) r`,
)

const ResolvedRow = Type.Object({ external_id: Nullable(Type.String()), anonymous_id: Nullable(Type.String()), id: IdOf<UserId>() })

/** The users of these ids, without locks: for events that change no user. */
export const resolveIds = (ctx: ProjectCtx, externalIds: string[], anonymousIds: string[]) =>
  resolveAll(ctx, ctx.projectId, { externalIds, anonymousIds })

type Ids = { externalIds: string[]; anonymousIds: string[] }

const resolveAll = jointMany(
  ResolvedRow,
  (_, calls: JointCall<Ids>[]) =>
    sql`select q.call, r.external_id, r.anonymous_id, r.id
        from ${callRows(calls, sql`external_ids text[], anonymous_ids text[]`, ({ externalIds, anonymousIds }) => ({ external_ids: externalIds, anonymous_ids: anonymousIds }))}
        cross join lateral (
          select external_id, null as anonymous_id, id from users
          where project_id = q.project_id and external_id = any(q.external_ids) and erase_requested_at is null
          union all
          select null, anonymous_id, user_id from user_anonymous_ids
          where project_id = q.project_id and anonymous_id = any(q.anonymous_ids)
          ${fence}
        ) r`,
)

const Epoch = Type.Object({ epoch: Type.Integer(), erased_position: Type.Integer() })

const epochsOf = jointMany(
  Epoch,
  (_, calls: JointCall<null>[]) =>
    sql`select q.call, e.epoch, e.erased_position from ${callRows(calls)} join identity_epochs e on e.project_id = q.project_id`,
)

/**
 * The version of the ids: cached ids are valid while it stays the same. `erased_position` is the newest position of the queue at the time
 * of the last erasure.
 */
export const identityEpoch = async (ctx: ProjectCtx): Promise<{ epoch: number; erased_position: number }> =>
  (await epochsOf(ctx, ctx.projectId, null))[0] ?? { epoch: 0, erased_position: 0 }

/**
 * Notes that ids belong to other users now. Run it after everything else about users, because other transactions wait for this row.
 */
export const endIdentityEpoch = (ctx: InTx, erasedPosition = 0) =>
  ctx.db.run(
    sql`insert into identity_epochs as e (project_id, epoch, erased_position) values (${ctx.projectId}, 1, ${erasedPosition})
        on conflict (project_id) do update set epoch = e.epoch + 1, erased_position = greatest(e.erased_position, excluded.erased_position)`,
  )

const IdRow = Type.Object({ id: IdOf<UserId>() })

/** Inserts anonymous ids; fewer rows than ids mean that another transaction inserted one of them. */
export const insertAliases = (ctx: InTx, aliases: { anonymous_id: string; user_id: UserId; linked_at: Date }[]) =>
  ctx.db.run(
    sql`insert into user_anonymous_ids (project_id, anonymous_id, user_id, linked_at)
        select ${ctx.projectId}, a.anonymous_id, a.user_id, a.linked_at
        from jsonb_to_recordset(${JSON.stringify(aliases)}::jsonb) as a(anonymous_id text, user_id bigint, linked_at timestamptz)
        order by a.anonymous_id
        on conflict do nothing`,
  )

/** Moves locked anonymous ids to other users. */
export const repointAliases = (ctx: InTx, aliases: { anonymous_id: string; user_id: UserId; linked_at: Date }[]) =>
  ctx.db.run(
    sql`update user_anonymous_ids t
        set user_id = a.user_id, linked_at = a.linked_at
        from jsonb_to_recordset(${JSON.stringify(aliases)}::jsonb) as a(anonymous_id text, user_id bigint, linked_at timestamptz)
        where t.project_id = ${ctx.projectId} and t.anonymous_id = a.anonymous_id and t.anonymous_id = any(${aliases.map(({ anonymous_id }) => anonymous_id)}::text[])`,
  )

export type UserMerge = { from_id: UserId; into_id: UserId }

const merges = (pairs: UserMerge[]) => sql`jsonb_to_recordset(${JSON.stringify(pairs)}::jsonb) as m(from_id bigint, into_id bigint)`

/** Moves the anonymous ids and devices of merged users to the users they were merged into, and deletes their searched text. */
export const moveUserRows = (ctx: InTx, pairs: UserMerge[]) =>
  ctx.db.run(
    sql`with pairs as (
          select * from ${merges(pairs)}
        ), aliases as (
          update user_anonymous_ids a set user_id = m.into_id from pairs m where a.user_id = m.from_id and a.project_id = ${ctx.projectId}
        ), moved_devices as (
          update devices d set user_id = m.into_id from pairs m where d.user_id = m.from_id and d.project_id = ${ctx.projectId}
        ), merged_before as (
          update users u set merged_into = m.into_id from pairs m where u.merged_into = m.from_id and u.project_id = ${ctx.projectId}
        )
        delete from user_search s using pairs m where s.user_id = m.from_id and s.project_id = ${ctx.projectId}`,
  )

export const findUser = (ctx: ProjectCtx, id: UserId) =>
  ctx.db.first(UserRow, sql`select ${columns} from users u where u.project_id = ${ctx.projectId} and u.id = ${id} and ${isLiveRow}`)

export const findUsers = (ctx: ProjectCtx, ids: UserId[]): Promise<UserRow[]> => usersById(ctx, ctx.projectId, ids)

const usersById = jointMany(
  UserRow,
  (_, calls: JointCall<UserId[]>[]) =>
    sql`select q.call, r.*
        from ${callRows(calls, sql`ids bigint[]`, (ids) => ({ ids }))}
        cross join lateral (
          select ${columns} from users u where u.project_id = q.project_id and u.id = any(q.ids) and ${isLiveRow} ${fence}
        ) r`,
)

/** Finds a user by external id, or by anonymous id if the user has no external id (D-USER-2). */
export const findUserByName = (ctx: ProjectCtx, name: string) =>
  ctx.db.first(
    UserRow,
    sql`select ${columns} from users u
        where u.project_id = ${ctx.projectId} and u.external_id = ${name} and u.erase_requested_at is null and (u.merged_into is null) is true
        union all
        select ${columns} from users u
        join user_anonymous_ids a on a.project_id = u.project_id and a.user_id = u.id
        where a.project_id = ${ctx.projectId} and a.anonymous_id = ${name} and u.project_id = ${ctx.projectId} and u.external_id is null and ${isLiveRow}
        limit 1`,
  )

/** The live user behind an id, in one of these projects: itself, or the one it was merged into. */
export const findUserAmong = (ctx: Ctx, projectIds: ProjectId[], id: UserId) =>
  ctx.db.first(
    UserRow,
    sql`select ${columns} from users f
        join users u on u.project_id = f.project_id and u.id = coalesce(f.merged_into, f.id)
        where f.project_id = any(${projectIds}::bigint[]) and f.id = ${id} and f.erase_requested_at is null and ${isLiveRow}`,
  )

const MergedIntoRow = Type.Object({ id: IdOf<UserId>(), merged_into: IdOf<UserId>() })

/** The user that each of these ids belongs to now: itself, or the one it was merged into. Erased users are not returned. */
export const findMergedInto = jointMany(
  MergedIntoRow,
  (_, calls: JointCall<UserId[]>[]) =>
    sql`select q.call, r.id, s.id as merged_into
        from ${callRows(calls, sql`ids bigint[]`, (ids) => ({ ids }))}
        cross join lateral (
          select u.id, u.merged_into from users u
          where u.project_id = q.project_id and u.id = any(q.ids) and u.erase_requested_at is null ${fence}
        ) r
        cross join lateral (
          select r.id where r.merged_into is null
          union all
          select s.id from users s where s.project_id = q.project_id and s.id = r.merged_into and s.erase_requested_at is null
          ${fence}
        ) s`,
)

/** The ids under which other modules may have stored rows of a user: its own, and those of users merged into it. */
export const findIdsOf = async (ctx: ProjectCtx, id: UserId): Promise<UserId[]> => {
  const merged = await ctx.db.many(IdRow, sql`select id from users where project_id = ${ctx.projectId} and merged_into = ${id}`)
  return [id, ...merged.map(({ id }) => id)]
}
