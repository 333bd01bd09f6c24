import { listing, type PageOf, type PageRequest, pageOf } from '../../infra/http/paging.ts'
import { type Sql, sql } from '../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { columns, isLive } from './queries.ts'
import { UserRow, UserText } from './schema.ts'
import { matchesQuery, matchesRecentQuery } from './search.queries.ts'

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

/** A page of users; with a search, only those that `found` selects. */
export const listUsers = (ctx: ProjectCtx, page: PageRequest, found: Sql = sql`true`): Promise<PageOf<UserRow>> =>
  pageOf(ctx, UserRow, userListing, page, {
    select: columns,
    from: sql`users u`,
    where: sql`u.project_id = ${ctx.projectId} and ${isLive} and ${found}`,
  })

/** The page of `listUsers` with values as texts, for `writeUser`. The keys `hidden` of `data` are left out. */
export const listUserTexts = (ctx: ProjectCtx, page: PageRequest, hidden: string[], found: Sql = sql`true`): Promise<PageOf<UserText>> =>
  pageOf(ctx, UserText, userListing, page, {
    select: sql`u.id, u.project_id, u.external_id, u.anonymous_id, u.email, u.phone, u.timezone, u.locale,
                ${hidden.length === 0 ? sql`u.data` : sql`(u.data - ${hidden}::text[])`}::text as data, u.has_push_device,
                u.created_at::text as created_at, u.updated_at::text as updated_at`,
    from: sql`users u`,
    where: sql`u.project_id = ${ctx.projectId} and ${isLive} and ${found}`,
  })

/** Users who match `q`, for a rare term and for a common one. */
export const matchesSearch = (ctx: ProjectCtx, q: string, isRarePair: boolean) => matchesQuery(ctx, sql`u.id`, q, isRarePair)
export const matchesRecentSearch = (ctx: ProjectCtx, q: string) => matchesRecentQuery(ctx, sql`u.id`, q)
