import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ListId, UserId } from '../../../lib/ids.ts'
import { Count, IdOf, Instant, Nullable } from '../../../lib/shapes.ts'

const MemberRow = Type.Object({ user_id: IdOf<UserId>() })

const idsOf = (rows: { user_id: UserId }[]) => rows.map(({ user_id }) => user_id)

/**
 * The next members of any of these lists, each once, in the order of their ids. A list is read as it is now: when it gets a new rule
 * between two calls, the second call continues with the new members. Users who were merged or erased a moment ago may be included. Each
 * list is read separately, because the first members of all lists are among the first of each.
 */
export const audienceAfter = async (ctx: ProjectCtx, listIds: ListId[], after: UserId, limit: number): Promise<UserId[]> =>
  idsOf(
    await ctx.db.many(
      MemberRow,
      sql`select distinct m.user_id
          from lists l
          cross join lateral (
            select p.user_id from list_memberships p
            where p.version_id = l.live_version_id and p.is_member and p.user_id > ${after}
            order by p.user_id
            limit ${limit}
          ) m
          where l.project_id = ${ctx.projectId} and l.id = any(${listIds}::bigint[]) and l.archived_at is null
          order by m.user_id
          limit ${limit}`,
    ),
  )

const DatedRow = Type.Object({ user_id: IdOf<UserId>(), changed_at: Instant })

/** The next members of a list, in the order of their ids, with the instants at which they became members. */
export const membersAfter = (ctx: ProjectCtx, listId: ListId, after: UserId, limit: number) =>
  ctx.db.many(
    DatedRow,
    sql`select p.user_id, p.changed_at
        from lists l
        join list_memberships p on p.project_id = ${ctx.projectId} and p.version_id = l.live_version_id and p.is_member and p.user_id > ${after}
        where l.project_id = ${ctx.projectId} and l.id = ${listId} and l.archived_at is null
        order by p.user_id
        limit ${limit}`,
  )

/** Time zones: users without one have that of the project. */
export type Zones = {
  /** Users with one of these are meant. */
  wanted: string[]
  isProjectWanted: boolean
  /** Users with one of the others are too, because it may be another name of a wanted one. */
  known: string[]
}

/** The next members of a list whose time zone is among these, in the order of their ids, with their zones. */
export const membersInZones = (ctx: ProjectCtx, listId: ListId, { wanted, isProjectWanted, known }: Zones, after: UserId, limit: number) =>
  ctx.db.many(
    ZonedRow,
    sql`select p.user_id, u.timezone
        from lists l
        join list_memberships p on p.project_id = ${ctx.projectId} and p.version_id = l.live_version_id and p.is_member and p.user_id > ${after}
        join users u on u.project_id = ${ctx.projectId} and u.id = p.user_id
          and (u.timezone = any(${wanted}::text[]) or u.timezone <> all(${known}::text[]) or u.timezone is null and ${isProjectWanted})
        where l.project_id = ${ctx.projectId} and l.id = ${listId} and l.archived_at is null
        order by p.user_id
        limit ${limit}`,
  )

const ZonedRow = Type.Object({ user_id: IdOf<UserId>(), timezone: Nullable(Type.String()) })

/** The users among these who are members of any of these lists. */
export const membersAmong = async (ctx: ProjectCtx, listIds: ListId[], userIds: UserId[]): Promise<UserId[]> =>
  idsOf(
    await ctx.db.many(
      MemberRow,
      sql`select distinct p.user_id
          from lists l
          join list_memberships p on p.project_id = ${ctx.projectId} and p.version_id = l.live_version_id and p.user_id = any(${userIds}::bigint[]) and p.is_member
          where l.project_id = ${ctx.projectId} and l.id = any(${listIds}::bigint[]) and l.archived_at is null`,
    ),
  )

const MemberOfRow = Type.Object({ list_id: IdOf<ListId>(), user_id: IdOf<UserId>() })

/** The lists among these that each of these users is a member of. */
export const listsOfMembers = (ctx: ProjectCtx, listIds: ListId[], userIds: UserId[]) =>
  ctx.db.many(
    MemberOfRow,
    sql`select l.id as list_id, p.user_id
        from lists l
        join list_memberships p on p.project_id = ${ctx.projectId} and p.version_id = l.live_version_id and p.user_id = any(${userIds}::bigint[]) and p.is_member
        where l.project_id = ${ctx.projectId} and l.id = any(${listIds}::bigint[]) and l.archived_at is null`,
  )

const MembershipRow = Type.Object({ id: IdOf<ListId>(), name: Type.String(), is_member: Type.Boolean() })

/** The memberships of a user in the live lists among these. */
export const membershipsIn = (ctx: ProjectCtx, listIds: ListId[], userId: UserId) =>
  ctx.db.many(
    MembershipRow,
    sql`select l.id, l.name, coalesce(p.is_member, false) as is_member
        from lists l
        left join list_memberships p on p.project_id = ${ctx.projectId} and p.version_id = l.live_version_id and p.user_id = ${userId}
        where l.project_id = ${ctx.projectId} and l.id = any(${listIds}::bigint[]) and l.archived_at is null
        order by l.id`,
  )

/** In how many of these lists these users are, together. */
export const countMemberships = (ctx: ProjectCtx, listIds: ListId[], userIds: UserId[]): Promise<number> =>
  ctx.db.value(
    Count,
    sql`select count(*) as users
        from lists l
        join list_memberships p on p.project_id = ${ctx.projectId} and p.version_id = l.live_version_id and p.user_id = any(${userIds}::bigint[]) and p.is_member
        where l.project_id = ${ctx.projectId} and l.id = any(${listIds}::bigint[]) and l.archived_at is null`,
  )

/** The members of these lists together; a user in several lists counts several times. Fast enough to show progress. */
export const audienceSize = (ctx: ProjectCtx, listIds: ListId[]): Promise<number> =>
  ctx.db.value(
    Count,
    sql`select coalesce(sum(c.members), 0)::bigint as users
          from lists l
          join list_counts c on c.version_id = l.live_version_id and c.project_id = l.project_id
          where l.project_id = ${ctx.projectId} and l.id = any(${listIds}::bigint[]) and l.archived_at is null`,
  )
