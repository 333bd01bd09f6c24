import { bytesPageOf, limitTo, listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { type Sql, sql } from '../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { columns, isLive } from './queries.ts'
import { UserRow } from './schema.ts'
import { matchesLatest, matchesQuery, matchesRecentQuery, type SearchPlan } from './search.queries.ts'

export const userListing = listing({
  resource: 'users',
  sorts: {
    id: { column: sql`u.id`, type: 'bigint' },
    external_id: { column: sql`u.external_id`, type: 'text', nullable: true },
    anonymous_id: { column: sql`u.anonymous_id`, type: 'text', nullable: true },
    email: { column: sql`u.email`, type: 'text', nullable: true },
    phone: { column: sql`u.phone`, type: 'text', nullable: true },
    created_at: { column: sql`u.created_at`, type: 'timestamptz' },
    updated_at: { column: sql`u.updated_at`, type: 'timestamptz' },
  },
  defaultSort: 'id',
  defaultDirection: 'desc',
  id: sql`u.id`,
  searchedFields: 'external_id, email, phone, anonymous_id',
})

/** The users that a search finds: those of the page, and those before its cursor. */
export type Found = { here: Sql; behind: Sql }

const EVERYONE: Found = { here: sql`true`, behind: sql`true` }

const source = (ctx: ProjectCtx, select: Sql, { here, behind }: Found) => {
  const listed = sql`u.project_id = ${ctx.projectId} and ${isLive}`
  return { select, from: sql`users u`, where: sql`${listed} and ${here}`, behind: sql`${listed} and ${behind}` }
}

/** A page of users; with a search, only those that are found. */
export const listUsers = (ctx: ProjectCtx, page: PageRequest, found = EVERYONE): Promise<PageOf<UserRow>> =>
  pageOf(ctx, UserRow, userListing, page, source(ctx, columns, found))

/** The page of `listUsers` as bytes, for `writeUserPage`. The keys `hidden` of `data` are left out. */
export function listUserBytes(ctx: ProjectCtx, page: PageRequest, hidden: string[], found = EVERYONE): ReturnType<typeof bytesPageOf> {
  const select = sql`u.id, u.project_id, u.external_id, u.anonymous_id, u.email, u.phone, u.timezone, u.locale,
                     ${hidden.length === 0 ? sql`u.data` : sql`u.data - ${hidden}::text[] as data`}, u.has_push_device, u.created_at, u.updated_at`
  return bytesPageOf(ctx, userListing, page, source(ctx, select, found))
}

/** Users who match `q`, for a rare term. */
export function matchesSearch(ctx: ProjectCtx, q: string, plan: SearchPlan): Found {
  const matches = matchesQuery(ctx, sql`u.id`, q, plan)
  return { here: matches, behind: matches }
}

/** Users who match `q`, for a common term. Only the latest users are searched, so a page that is not full may lack some of them. */
export const matchesRecentSearch = (ctx: ProjectCtx, page: PageRequest): Found => ({
  here: matchesLatest(ctx, page.q, page, isLive, limitTo(page.limit + 1)),
  behind: matchesRecentQuery(ctx, sql`u.id`, page.q),
})
