/** Deletes old rows of tables that have an index of their age, which is read from the oldest row of each project on. */
import { Type } from 'typebox'
import type { ProjectId } from '../../lib/ids.ts'
import { IdOf } from '../../lib/shapes.ts'
import { raw, sql } from '../postgres/db.ts'
import { firstOfEach } from '../postgres/first-of-each.ts'
import type { Config } from '../runtime/config.ts'
import type { Ctx, InTx } from '../runtime/ctx.ts'

/** A table whose rows are deleted by their age alone. */
export type AgedRows = {
  /** The table. It has an index of the project and the column. */
  name: string
  /** The column with the age of a row. */
  column: string
  /** Its setting in days, or a fixed number of them. 0 keeps everything. */
  days(config: Config): number
  /** Deletes some of the oldest rows, and keeps what is counted of them. Returns how many. */
  remove(ctx: InTx, before: Date, limit: number): Promise<number>
}

const PROJECTS_AT_ONCE = 20
export const ROWS_AT_ONCE = 1000

const ProjectRow = Type.Object({ project_id: IdOf<ProjectId>() })

/** The projects, without some, whose oldest row is too old. */
export const projectsWithOldRows = (ctx: Ctx, { name, column }: AgedRows, before: Date, without: ProjectId[]) =>
  ctx.db.many(
    ProjectRow,
    sql`with recursive ${firstOfEach('oldest', { table: raw(name), keys: ['project_id'], order: [column] })}
        select project_id from oldest
        where ${raw(column)} < ${before} and project_id <> all(${without}::bigint[])
        order by project_id limit ${PROJECTS_AT_ONCE}`,
  )
