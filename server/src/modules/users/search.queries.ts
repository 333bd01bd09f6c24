import { Type } from 'typebox'
import type { PageRequest } from '../../infra/http/paging.ts'
import { likePattern } from '../../infra/http/search.ts'
import { fence, join, raw, type Sql, sql } from '../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import { withoutSeparators } from '../../lib/phone.ts'
import { Flag } from '../../lib/shapes.ts'
import { indexedParts, rarePartsOf, withoutCommonParts } from './common-parts.ts'
import { pairPatterns } from './pair-patterns.ts'

const RECENT_ROWS = 2000

/** The texts that a term stands for: itself, and a phone number also without separators. */
function textsOf(q: string): string[] {
  const digits = withoutSeparators(q)
  return /^\+?\d{2,}$/.test(digits) && digits !== q ? [q, digits] : [q]
}

/**
 * A pattern that the planner does not see, so that one plan is good for all. For one that it sees it plans each time, which takes longer than most
 * searches.
 */
const hidden = (pattern: string) => sql`(select ${pattern}::text)`

/** The condition that the searched text of a row contains one of the texts of `q`. */
const textMatches = (q: string) => anyOf(q, (text) => sql`s.text ilike ${hidden(likePattern(text))}`)

/** The same for the trigram index, which is searched for the `rareParts` only. The whole text is checked on what it finds: it is not searched for an expression. */
const indexMatches = (q: string, rareParts: ReadonlySet<string>) =>
  anyOf(q, (text) => {
    const pattern = withoutCommonParts(text, rareParts)
    const whole = likePattern(text)
    return pattern === null ? sql`s.text ilike ${whole}` : sql`(s.text ilike ${pattern} and s.text || '' ilike ${whole})`
  })

/** The same with one plan for all patterns. Both conditions always stand, because the planner then expects few users. */
const hiddenIndexMatches = (q: string, rareParts: ReadonlySet<string>) =>
  anyOf(q, (text) => {
    const whole = likePattern(text)
    return sql`(s.text ilike ${hidden(withoutCommonParts(text, rareParts) ?? whole)} and s.text || '' ilike ${hidden(whole)})`
  })

const anyOf = (q: string, condition: (text: string) => Sql) => sql`(${join(textsOf(q).map(condition), ' or ')})`

const SAMPLED_PLACES = 64
const SAMPLED_ROWS = 3

/**
 * How to search for a term, which changes nothing about what is found. A common term fills a page from the newest users. Another one is looked up
 * in the trigram index, by those of its parts that few users have.
 */
export type SearchPlan = {
  isCommon: boolean
  rareParts: ReadonlySet<string>
  /** Most users of the database are of the project, so that its id need not narrow the search. */
  hasMostUsers: boolean
}

const Sample = Type.Object({ is_common: Flag, sampled: Type.Array(Type.Integer()), share: Type.Number() })

const MOST = 0.5

/**
 * Plans by a sample of the users of a project, taken evenly from their ids. A term that is in it is common. One that is not is rare, and the index
 * finds it at once; for a common one that would mean reading most of the index.
 */
export async function planSearch(ctx: ProjectCtx, q: string): Promise<SearchPlan> {
  const texts = textsOf(q)
  const parts = [...new Set(texts.flatMap(indexedParts))]
  const sample = await ctx.db.one(
    Sample,
    sql`with sample as materialized (
          select s.text, lower(s.text) as lower
          from (select min(s.user_id) as first, max(s.user_id) as last from user_search s where s.project_id = ${ctx.projectId}) ends
          cross join generate_series(0, ${SAMPLED_PLACES - 1}::bigint) as place
          cross join lateral (select s.text from user_search s
                              where s.project_id = ${ctx.projectId} and s.user_id >= ends.first + (ends.last - ends.first) * place / ${SAMPLED_PLACES}::bigint
                              order by s.user_id limit ${SAMPLED_ROWS}) s
        )
        select exists (select 1 from sample s where ${textMatches(q)}) as is_common,
               array(select (select count(*) from sample s where strpos(s.lower, p.part) > 0)
                     from unnest(${parts}::text[]) with ordinality as p (part, at) order by p.at) as sampled,
               coalesce((select m.share
                         from pg_stats p, unnest(p.most_common_vals::text::bigint[], p.most_common_freqs) as m (project_id, share)
                         where p.schemaname = current_schema() and p.tablename = 'user_search' and p.attname = 'project_id'
                           and m.project_id = ${ctx.projectId}), 0)::float8 as share`,
  )
  const usersWith = new Map(parts.map((part, at) => [part, sample.sampled[at] as number]))
  return {
    isCommon: sample.is_common,
    rareParts: new Set(texts.flatMap((text) => [...rarePartsOf(text, usersWith)])),
    hasMostUsers: sample.share >= MOST,
  }
}

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
 * The condition that the searched text of a user contains `q`. `id` is the column with the user id. Materialised, because the planner
 * would read the whole index for a term that it expects to be common.
 */
export const matchesQuery = (ctx: ProjectCtx, id: Sql, q: string, plan: SearchPlan) =>
  sql`${id} in (with found as materialized (${matchesOf(ctx, q, plan)}) select user_id from found)`

/** Two characters that few users have are found by what stands beside them. For two that many have, that would read much of the index over and over. */
function matchesOf(ctx: ProjectCtx, q: string, { isCommon, rareParts, hasMostUsers }: SearchPlan): Sql {
  const pairs = isCommon ? null : pairPatterns(q)
  if (pairs) return withPair(ctx, q, pairs)
  // If it could, a plan for all patterns would read the key of the project whole, to narrow down the little that the trigrams have found.
  return hasMostUsers
    ? sql`select s.user_id from user_search s where ${hiddenIndexMatches(q, rareParts)} and (s.project_id = ${ctx.projectId}) is true`
    : sql`select s.user_id from user_search s where ${indexMatches(q, rareParts)} and s.project_id = ${ctx.projectId}`
}

/** ASCII texts by trigrams, and the others, which have an index of their own. */
const withPair = (ctx: ProjectCtx, q: string, patterns: string[]) =>
  sql`select s.user_id from user_search s where s.text ilike any(${patterns}::text[]) and s.project_id = ${ctx.projectId}
      union all
      select s.user_id from user_search s
      where octet_length(s.text) <> length(s.text) and ${textMatches(q)} and s.project_id = ${ctx.projectId}`

/** The condition that the searched text of a user contains `q`, for a common term: each row of the page is checked. */
export const matchesRecentQuery = (ctx: ProjectCtx, id: Sql, q: string) =>
  sql`exists (select 1 from user_search s where s.user_id = ${id} and s.project_id = ${ctx.projectId} and ${textMatches(q)} offset 0)`
