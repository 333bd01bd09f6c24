import { type Static, Type } from 'typebox'
import { listing, type PageOf, type PageRequest, pageOf } from '../../../infra/http/paging.ts'
import { join, raw, sql, unprepared } from '../../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { UserId } from '../../../lib/ids.ts'
import { IdOf, Instant } from '../../../lib/shapes.ts'
import type { RuleSql } from '../../rules/index.ts'
import { isLiveUser, matchesQuery, type SearchPlan } from '../../users/index.ts'

/** For the rest of the transaction: limits the time of statements, and lets them read whole tables sequentially. */
export const limitStatements = (ctx: InTx, timeoutMs: number) =>
  ctx.db.run(
    sql`select set_config('statement_timeout', ${`${timeoutMs}ms`}, true), set_config('enable_seqscan', 'on', true),
               set_config('plan_cache_mode', 'force_custom_plan', true)`,
  )

const Counts = Type.Object({
  count: Type.Integer(),
  with_email: Type.Integer(),
  with_phone: Type.Integer(),
  with_push_device: Type.Integer(),
  newest: Type.Array(IdOf<UserId>()),
  counts: Type.Array(Type.Integer()),
})

const SHOWN = 10

/**
 * The number of users who match a rule, in total and by kind of address, the newest of these users, and the number of users for each
 * condition alone.
 */
export const countByRule = (ctx: InTx, { columns, holds }: Pick<RuleSql, 'columns' | 'holds'>, conditions: number) => {
  const names = Array.from({ length: conditions }, (_, index) => raw(`c${index}`))
  return ctx.db.one(
    Counts,
    unprepared(sql`with matched as materialized (
          select p.id, p.has_email, p.has_phone, p.has_push_device, ${holds} as holds, ${join(
            names.map((name) => sql`p.${name}`),
            ', ',
          )}
          from (select u.id, u.email is not null as has_email, u.phone is not null as has_phone, u.has_push_device, ${columns}
                from users u
                where u.project_id = ${ctx.projectId} and ${isLiveUser}) p
        )
        select count(*) filter (where holds) as count,
               count(*) filter (where holds and has_email) as with_email,
               count(*) filter (where holds and has_phone) as with_phone,
               count(*) filter (where holds and has_push_device) as with_push_device,
               array(select id from matched where holds order by id desc limit ${SHOWN}) as newest,
               array[${join(
                 names.map((name) => sql`count(*) filter (where ${name})`),
                 ', ',
               )}]::bigint[] as counts
        from matched`),
  )
}

export const matchListing = listing({
  resource: 'users-search',
  sorts: {
    id: { column: sql`u.id`, type: 'bigint' },
    created_at: { column: sql`u.created_at`, type: 'timestamptz' },
    updated_at: { column: sql`u.updated_at`, type: 'timestamptz' },
  },
  defaultSort: 'id',
  defaultDirection: 'desc',
  id: sql`u.id`,
  searchedFields: 'external_id, email, phone, anonymous_id',
})

const MatchRow = Type.Object({ id: IdOf<UserId>(), created_at: Instant, updated_at: Instant })

/**
 * A page of the users who match a rule. Each is checked in the order of the page, so that a rule that many users match ends when the page
 * is full. `plan` is how the search of the page is done; null without a search.
 */
export const usersByRule = (
  ctx: InTx<ProjectCtx>,
  { columns, holds }: Pick<RuleSql, 'columns' | 'holds'>,
  page: PageRequest,
  plan: SearchPlan | null,
): Promise<PageOf<Static<typeof MatchRow>>> =>
  pageOf(ctx, MatchRow, matchListing, page, {
    select: sql`u.id, u.created_at, u.updated_at`,
    from: sql`users u cross join lateral (select ${columns}) p`,
    where: sql`u.project_id = ${ctx.projectId} and ${isLiveUser} and ${plan === null ? sql`true` : matchesQuery(ctx, sql`u.id`, page.q, plan)} and ${holds}`,
    isOneOff: true,
  })
