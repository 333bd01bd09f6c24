import { Type } from 'typebox'
import { type Sql, sql } from '../../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../../infra/runtime/ctx.ts'
import type { MessageId, UserId } from '../../../lib/ids.ts'
import { IdOf } from '../../../lib/shapes.ts'
import type { UserMerge } from '../../users/index.ts'
import { CHECKED_AGAIN, isSkippedFor, pairsOf } from '../messages.queries.ts'
import { PENDING_STATES, RECEIVED_STATES } from '../schema.ts'

const CauseRow = Type.Object({ id: IdOf<MessageId>(), is_replaced: Type.Boolean() })

/**
 * The messages among these, which are claimed, for whose cause another user of `merges` got a message before the merge, or may get one now: those
 * of users who remained. `is_replaced`: that user got it. Otherwise it is claimed, and may have been decided on before the merge.
 */
export const sentToMerged = (ctx: ProjectCtx, own: { id: MessageId; user_id: UserId; cause: string }[], merges: UserMerge[]) => {
  const ids = own.map(({ id }) => id)
  return ctx.db.many(
    CauseRow,
    sql`select s.id, bool_or(o.state <> 'claimed') as is_replaced
        from unnest(${ids}::bigint[], ${own.map(({ user_id }) => user_id)}::bigint[], ${own.map(({ cause }) => cause)}::text[])
          as s(id, user_id, cause)
        join ${pairsOf(merges)} on p.into_id = s.user_id
        join messages o on o.project_id = ${ctx.projectId} and o.user_id = p.from_id and o.cause = s.cause
        where o.state = any(${RECEIVED_STATES}::text[]) or (o.state = 'claimed' and not o.id = any(${ids}::bigint[]))
        group by s.id`,
  )
}

/**
 * The messages among these, which are claimed, for whose cause `user_id`, the user that theirs was merged into, or another user of `merges` has a
 * message too, other than one that was skipped as a duplicate, or for a reason that is checked again. `is_replaced`: it is that of `user_id`, has
 * ended, or comes first of those that wait or are claimed, as in `skipDuplicates`. Otherwise it is claimed, and may have been decided on before
 * the merge.
 */
export const sharingCause = (ctx: ProjectCtx, shared: { id: MessageId; user_id: UserId; cause: string }[], merges: UserMerge[]) => {
  const ids = shared.map(({ id }) => id)
  const isPassed = (m: Sql) => isSkippedFor(m, [...CHECKED_AGAIN, 'duplicate'])
  return ctx.db.many(
    CauseRow,
    sql`select s.id, bool_or(replaces) as is_replaced
        from unnest(${ids}::bigint[], ${shared.map(({ user_id }) => user_id)}::bigint[], ${shared.map(({ cause }) => cause)}::text[])
          as s(id, user_id, cause)
        join messages claimed on claimed.project_id = ${ctx.projectId} and claimed.id = s.id
        cross join lateral (select s.user_id as id union all select p.from_id from ${pairsOf(merges)} where p.into_id = s.user_id) as u
        join messages o on o.project_id = ${ctx.projectId} and o.user_id = u.id and o.cause = s.cause and o.id <> s.id
        cross join lateral (select o.user_id = s.user_id or not o.state = any(${PENDING_STATES}::text[])
                                     or (o.uncertain_at is null, o.id) < (claimed.uncertain_at is null, claimed.id)) as rank(replaces)
        where not ${isPassed(sql`o.`)} and (replaces or (o.state = 'claimed' and not o.id = any(${ids}::bigint[])))
        group by s.id`,
  )
}
