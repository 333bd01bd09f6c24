import { type Static, Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../../infra/http/paging.ts'
import { type Sql, sql } from '../../../infra/postgres/db.ts'
import { BY_HAND } from '../../../infra/queue/partitions.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { ListId, ListVersionId, UserId } from '../../../lib/ids.ts'
import { IdOf, Instant } from '../../../lib/shapes.ts'
import * as users from '../../users/index.ts'

export const memberListing = listing({
  resource: 'list-users',
  sorts: { id: { column: sql`p.user_id`, type: 'bigint' } },
  defaultSort: 'id',
  defaultDirection: 'desc',
  id: sql`p.user_id`,
  searchedFields: 'external_id, email, phone, anonymous_id',
})

const MemberRow = Type.Object({ id: IdOf<UserId>() })
type MemberRow = { id: UserId }

/**
 * Reads members in the order of their index and checks each user; `offset 0` keeps the planner from reversing that. The project is inside
 * the check: as a condition, the planner would expect nearly no rows and sort all members for a page.
 */
const isMember = (ctx: ProjectCtx, versionId: ListVersionId) =>
  sql`p.version_id = ${versionId} and p.is_member
      and exists (select 1 from users u
                  where u.id = p.user_id and u.project_id = ${ctx.projectId} and u.project_id = p.project_id
                    and ${users.isLiveUserRow}
                  offset 0)`

/** A page of members; with a search, only those that `found` selects. */
export const listMembers = (
  ctx: ProjectCtx,
  versionId: ListVersionId,
  page: PageRequest,
  found: Sql = sql`true`,
): Promise<PageOf<MemberRow>> =>
  pageOf(ctx, MemberRow, memberListing, page, {
    select: sql`p.user_id as id`,
    from: sql`list_memberships p`,
    where: sql`${isMember(ctx, versionId)} and ${found}`,
  })

/** The number of members that are searched one by one, whatever the term. */
export const NEAR_ROWS = 2000

const Near = Type.Object({ looked: Type.Integer(), found: Type.Integer() })

/** Of the members after a position: how many there are, up to `NEAR_ROWS`, and how many match `q`, up to `count`. */
export const searchNear = (ctx: ProjectCtx, versionId: ListVersionId, page: PageRequest, count: number) => {
  const ascending = (page.direction === 'asc') !== (page.travel === 'prev')
  const from = page.cursor?.position.id
  const range = from === undefined ? sql`true` : ascending ? sql`p.user_id >= ${from}` : sql`p.user_id <= ${from}`
  return ctx.db.first(
    Near,
    sql`with near as materialized (
          select p.user_id from list_memberships p
          where p.version_id = ${versionId} and p.is_member and ${range}
          order by p.user_id ${ascending ? sql`asc` : sql`desc`}
          limit ${NEAR_ROWS}
        )
        select (select count(*) from near) as looked,
               (select count(*) from (select 1 from near p where ${matchesRecentSearch(ctx, page.q)} limit ${count}) matching) as found`,
  )
}

/** Does a member match `q`? For a common term: the page is read, and each row checked. */
export const matchesRecentSearch = (ctx: ProjectCtx, q: string) => users.matchesRecentQuery(ctx, sql`p.user_id`, q)

/** Does a member match `q`? For a rare term: the trigram index finds the matches first. */
export const matchesSearch = (ctx: ProjectCtx, q: string, plan: users.SearchPlan) => users.matchesQuery(ctx, sql`p.user_id`, q, plan)

const NamedRow = Type.Object({ name: Type.String(), id: IdOf<UserId>(), is_external: Type.Boolean() })

/** The users of these names: external ids, or anonymous ids of users without an external id (D-USER-2). */
export const findByName = (ctx: ProjectCtx, names: string[]) =>
  ctx.db.many(
    NamedRow,
    sql`select u.external_id as name, u.id, true as is_external from users u
        where u.project_id = ${ctx.projectId} and u.external_id = any(${names}::text[]) and u.erase_requested_at is null
        union all
        select a.anonymous_id, a.user_id, false from user_anonymous_ids a
        join users u on u.id = a.user_id and u.project_id = ${ctx.projectId} and u.external_id is null
        where a.project_id = ${ctx.projectId} and a.anonymous_id = any(${names}::text[])`,
  )

/** The live users among these, locked against being merged or erased before the transaction ends. */
export const lockUsers = (ctx: InTx, ids: UserId[]) =>
  ctx.db.many(
    MemberRow,
    sql`select u.id from users u
        where u.project_id = ${ctx.projectId} and u.id = any(${ids}::bigint[]) and ${users.isLiveUserRow}
        order by u.id
        for share`,
  )

const MembershipRow = Type.Object({ is_member: Type.Boolean(), changed_at: Instant })

/** The membership of a user in a version; undefined without a row. */
export const findMembership = (ctx: ProjectCtx, versionId: ListVersionId, userId: UserId) =>
  ctx.db.first(
    MembershipRow,
    sql`select is_member, changed_at from list_memberships
        where project_id = ${ctx.projectId} and version_id = ${versionId} and user_id = ${userId}`,
  )

/**
 * Corrects the count of a version by what it differs from the members. A change of members commits with its count, so both are seen or neither,
 * and what is committed meanwhile is added beside the correction.
 */
export const recount = (ctx: InTx, versionId: ListVersionId) =>
  ctx.db.run(
    sql`insert into list_counts as c (project_id, version_id, partition, members)
        select ${ctx.projectId}, ${versionId}, ${BY_HAND},
               (select count(*) from list_memberships p
                where p.project_id = ${ctx.projectId} and p.version_id = ${versionId} and p.is_member)
               - (select coalesce(sum(members), 0) from list_counts
                  where project_id = ${ctx.projectId} and version_id = ${versionId})
        on conflict (project_id, version_id, partition) do update set members = c.members + excluded.members`,
  )

export const listOfUserListing = listing({
  resource: 'user-lists',
  sorts: {
    since: { column: sql`p.changed_at`, type: 'timestamptz' },
    name: { column: sql`l.name`, type: 'text' },
  },
  defaultSort: 'since',
  defaultDirection: 'desc',
  id: sql`l.id`,
  search: [sql`l.name`],
  searchedFields: 'name',
})

const ListOfUserRow = Type.Object({
  id: IdOf<ListId>(),
  name: Type.String(),
  type: Type.Union([Type.Literal('static'), Type.Literal('dynamic')]),
  since: Instant,
})

/** A page of the lists that a user is in. */
export const listsOfUser = (ctx: ProjectCtx, userId: UserId, page: PageRequest): Promise<PageOf<Static<typeof ListOfUserRow>>> =>
  pageOf(ctx, ListOfUserRow, listOfUserListing, page, {
    select: sql`l.id, l.name, l.type, p.changed_at as since`,
    // An archived list has no live version.
    from: sql`list_memberships p join lists l on l.project_id = p.project_id and l.live_version_id = p.version_id`,
    where: sql`p.project_id = ${ctx.projectId} and p.user_id = ${userId} and p.is_member`,
  })
