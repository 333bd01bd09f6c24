import { type Static, Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { JourneyId, UserId } from '../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../lib/shapes.ts'

const PastOutcome = Type.Object({
  user_id: IdOf<UserId>(),
  entrance_id: Type.Integer(),
  visit: Type.Integer(),
  state: Type.String(),
  reason: Nullable(Type.String()),
  at: Instant,
})
/** What happened to a message of a journey, and when. */
export type PastOutcome = Static<typeof PastOutcome>

/** What happened to the messages that users got by a journey, as far as it is known. */
export const outcomesOf = (ctx: ProjectCtx, journeyId: JourneyId, ids: UserId[]) =>
  ctx.db.many(
    PastOutcome,
    sql`select user_id, entrance_id, visit, state, reason, coalesce(acted_at, settled_at, created_at) as at
        from messages
        where project_id = ${ctx.projectId} and user_id = any(${ids}::bigint[]) and journey_id = ${journeyId}
          and state not in ('queued', 'claimed', 'deferred')`,
  )
