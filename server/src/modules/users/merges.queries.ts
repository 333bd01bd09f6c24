import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { IdOf, Instant } from '../../lib/shapes.ts'
import { DAY_MS } from '../../lib/times.ts'

/** A merge has the time at which it was received. It may be applied so much later, after an outage. */
export const MERGE_DELAY_MAX_MS = DAY_MS

const MergeRow = Type.Object({ id: IdOf<UserId>(), merged_into: IdOf<UserId>() })

/** The merges since an instant that involve one of these users. */
export const mergesSince = (ctx: ProjectCtx, ids: UserId[], since: Date) =>
  ctx.db.many(
    MergeRow,
    sql`select id, merged_into from users
        where project_id = ${ctx.projectId} and merged_into is not null and updated_at >= ${since}
          and (id = any(${ids}::bigint[]) or merged_into = any(${ids}::bigint[]))`,
  )

const TimedMergeRow = Type.Object({ id: IdOf<UserId>(), merged_into: IdOf<UserId>(), merged_at: Instant })

/** Some merges into users with an id up to `upTo`, in the order of their times: those after a merge. */
export const mergesAfter = (ctx: InTx, upTo: UserId, { merged_at, id }: { merged_at: Date; id: UserId }, limit: number) =>
  ctx.db.many(
    TimedMergeRow,
    sql`select id, merged_into, merged_at from users
        where project_id = ${ctx.projectId} and merged_at >= ${merged_at} and (merged_at, id) > (${merged_at}, ${id}) and merged_into <= ${upTo}
        order by merged_at, id
        limit ${limit}`,
  )

/** The users who were merged into one of these; with `since`, those who were merged since then. */
export const mergesInto = (ctx: ProjectCtx | InTx, ids: UserId[], since?: Date) =>
  ctx.db.many(
    MergeRow,
    sql`select id, merged_into from users
        where project_id = ${ctx.projectId} and merged_into = any(${ids}::bigint[])
          ${since === undefined ? sql`` : sql`and merged_at >= ${since}`}`,
  )
