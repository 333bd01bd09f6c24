/** Rows of a project that was deleted, whatever table they are in. */
import type { ProjectId } from '../../lib/ids.ts'
import { raw, sql, type TxDb } from './db.ts'

/**
 * Deletes rows of a project from a table, at most about `limit`. Returns how many. They are found by `ctid`. In a partitioned table several
 * rows can have the same one, so a few more rows of the same project may be deleted.
 */
export const deleteRows = (ctx: { db: Pick<TxDb, 'run'>; projectId: ProjectId }, table: string, limit: number): Promise<number> =>
  ctx.db.run(
    sql`delete from ${raw(table)}
        where project_id = ${ctx.projectId} and ctid = any(array(select ctid from ${raw(table)} where project_id = ${ctx.projectId} limit ${limit}))`,
  )
