import type { PageRequest } from '../../infra/http/paging.ts'
import { likePattern } from '../../infra/http/search.ts'
import { fence, raw, type Sql, sql } from '../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { Flag } from '../../lib/shapes.ts'
import { pairPatterns } from './pair-patterns.ts'

const RECENT_ROWS = 2000

/** The condition that the searched text of a row contains `q`. Phone numbers match without separators too. */
const textMatches = (q: string) => {
  const digits = q.replace(/[ ().-]/g, '')
  const asNumber = /^\+?\d{2,}$/.test(digits) && digits !== q
  return asNumber ? sql`(s.text ilike ${likePattern(q)} or s.text ilike ${likePattern(digits)})` : sql`s.text ilike ${likePattern(q)}`
}

const SAMPLED_PLACES = 16
const SAMPLED_ROWS = 12

/**
 * Whether `q` is in a sample of a project's users, taken evenly from their ids. A term that is not is rare, and the index finds it at once;
 * for a common one that would mean reading most of the index.
 */
export const isInSample = (ctx: ProjectCtx, q: string): Promise<boolean> =>
  ctx.db.value(
    Flag,
    sql`select exists (
          select 1
          from (select min(s.user_id) as first, max(s.user_id) as last from user_search s where s.project_id = ${ctx.projectId}) ends
          cross join generate_series(0, ${SAMPLED_PLACES - 1}::bigint) as place
          cross join lateral (select s.text from user_search s
                              where s.project_id = ${ctx.projectId} and s.user_id >= ends.first + (ends.last - ends.first) * place / ${SAMPLED_PLACES}::bigint
                              order by s.user_id limit ${SAMPLED_ROWS}) s
          where ${textMatches(q)}) as found`,
  )

const LATEST = raw(`limit ${RECENT_ROWS}`)

/**
 * The condition that a user is one of the first `limit` matches among the latest rows before (or after) a position, which are cheap to find for
 * any term. A common term fills its page from these; a rare one needs the trigram index. `u` are the users, and `isLive` says which of them
 * are listed.
 */
export function matchesLatest(ctx: ProjectCtx, q: string, { direction, travel, cursor }: PageRequest, isLive: Sql, limit: Sql): Sql {
  const ascending = (direction === 'asc') !== (travel === 'prev')
  const beyond = raw(`${ascending ? '>' : '<'}${cursor?.inclusive ? '=' : ''}`)
  const range = cursor ? sql`s.user_id ${beyond} ${cursor.position.id}` : sql`true`
  return sql`u.id = any(array(
               select s.user_id
               from (select s.user_id, s.text from user_search s
                     where s.project_id = ${ctx.projectId} and ${range}
                     order by s.user_id ${ascending ? sql`asc` : sql`desc`} ${LATEST}) s
               where ${textMatches(q)}
                 and exists (select 1 from users u where u.project_id = ${ctx.projectId} and u.id = s.user_id and ${isLive} ${fence})
               ${limit}))`
}

/**
 * Whether `q` is two characters that few users have, for which `matchesQuery` has a way of its own. For two that many have, it would read a
 * large part of the index over and over.
 */
export const isRarePair = async (ctx: ProjectCtx, q: string): Promise<boolean> => isPair(q) && !(await isInSample(ctx, q))

export const isPair = (q: string): boolean => pairPatterns(q) !== null

/**
 * The condition that the searched text of a user contains `q`. `id` is the column with the user id. Materialised, because the planner
 * would read the whole index for a term that it expects to be common.
 */
export const matchesQuery = (ctx: ProjectCtx, id: Sql, q: string, isRarePair: boolean) =>
  sql`${id} in (with found as materialized (${isRarePair ? withPair(ctx, q) : withText(ctx, textMatches(q))}) select user_id from found)`

const withText = (ctx: ProjectCtx, condition: Sql) =>
  sql`select s.user_id from user_search s where ${condition} and s.project_id = ${ctx.projectId}`

/** ASCII texts by trigrams, and the others, which have an index of their own. */
const withPair = (ctx: ProjectCtx, q: string) =>
  sql`${withText(ctx, sql`s.text ilike any(${pairPatterns(q)}::text[])`)}
      union all ${withText(ctx, sql`octet_length(s.text) <> length(s.text) and ${textMatches(q)}`)}`

/** The same condition for a common term: each row of the page is checked. */
export const matchesRecentQuery = (ctx: ProjectCtx, id: Sql, q: string) =>
  sql`exists (select 1 from user_search s where s.user_id = ${id} and s.project_id = ${ctx.projectId} and ${textMatches(q)} offset 0)`
