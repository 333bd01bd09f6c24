import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { IdOf } from '../../lib/shapes.ts'

const MergeRow = Type.Object({ id: IdOf<UserId>(), merged_into: IdOf<UserId>() })

/** The merges since an instant that involve one of these users. */
export const mergesSince = (ctx: ProjectCtx, ids: UserId[], since: Date) =>
  ctx.db.many(
    MergeRow,
    sql`select id, merged_into from users
        where project_id = ${ctx.projectId} and merged_into is not null and updated_at >= ${since}
          and (id = any(${ids}::bigint[]) or merged_into = any(${ids}::bigint[]))`,
  )

/** The users who were merged into one of these. */
export const mergesInto = (ctx: ProjectCtx | InTx, ids: UserId[]) =>
  ctx.db.many(MergeRow, sql`select id, merged_into from users where project_id = ${ctx.projectId} and merged_into = any(${ids}::bigint[])`)
