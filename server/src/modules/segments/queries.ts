import { Type } from 'typebox'
import type { ProjectCtx } from '../../infra/ctx.ts'
import { sql } from '../../infra/db.ts'

const ListId = Type.Object({ id: Type.Integer() })

/** Which of these ids are live lists of this project. */
export const findListIds = async (ctx: ProjectCtx, ids: number[]): Promise<number[]> =>
  (
    await ctx.db.all(
      ListId,
      sql`select id from lists where project_id = ${ctx.projectId} and id = any(${ids}::bigint[]) and archived_at is null`,
    )
  ).map(({ id }) => id)
