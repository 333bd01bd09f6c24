import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { IdOf } from '../../lib/shapes.ts'
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

const RemainingRow = Type.Object({ merged_into: IdOf<UserId>() })

/** The users with an id up to `upTo` into whom others were merged since an instant. */
export const mergedIntoSince = async (ctx: InTx, upTo: UserId, since: Date): Promise<UserId[]> => {
  const rows = await ctx.db.many(
    RemainingRow,
    sql`select distinct merged_into from users where project_id = ${ctx.projectId} and merged_at >= ${since} and merged_into <= ${upTo}`,
  )
  return rows.map(({ merged_into }) => merged_into)
}

/** The users who were merged into one of these; with `since`, those who were merged since then. */
export const mergesInto = (ctx: ProjectCtx | InTx, ids: UserId[], since?: Date) =>
  ctx.db.many(
    MergeRow,
    sql`select id, merged_into from users
        where project_id = ${ctx.projectId} and merged_into = any(${ids}::bigint[])
          ${since === undefined ? sql`` : sql`and merged_at >= ${since}`}`,
  )
