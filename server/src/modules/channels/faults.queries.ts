import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import { callRows, type JointCall, jointMany } from '../../infra/postgres/joint.ts'
import type { Ctx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { IdOf } from '../../lib/shapes.ts'
import { SandboxFaults } from './faults.ts'

/** The faults of the sandbox; undefined if it has none. */
export const findFaults = async (ctx: ProjectCtx): Promise<SandboxFaults | undefined> => (await findAll(ctx, ctx.projectId, null))[0]

const findAll = jointMany(
  SandboxFaults,
  (_, calls: JointCall<null>[]) =>
    sql`select q.call, f.bounce_percent, f.complaint_percent, f.soft_fail_percent, f.delay_seconds
        from ${callRows(calls)} join sandbox_faults f on f.project_id = q.project_id`,
)

export const saveFaults = (ctx: ProjectCtx, { bounce_percent, complaint_percent, soft_fail_percent, delay_seconds }: SandboxFaults) =>
  ctx.db.run(
    sql`insert into sandbox_faults (project_id, bounce_percent, complaint_percent, soft_fail_percent, delay_seconds, updated_at)
        values (${ctx.projectId}, ${bounce_percent}, ${complaint_percent}, ${soft_fail_percent}, ${delay_seconds}, ${ctx.clock.now()})
        on conflict (project_id) do update
          set bounce_percent = excluded.bounce_percent, complaint_percent = excluded.complaint_percent,
              soft_fail_percent = excluded.soft_fail_percent, delay_seconds = excluded.delay_seconds, updated_at = excluded.updated_at`,
  )

export const deleteFaults = (ctx: ProjectCtx) => ctx.db.run(sql`delete from sandbox_faults where project_id = ${ctx.projectId}`)

/** Which of these projects have a sandbox with faults. */
export const projectsWithFaults = async (ctx: Ctx, ids: ProjectId[]): Promise<ProjectId[]> =>
  (
    await ctx.db.many(
      Type.Object({ project_id: IdOf<ProjectId>() }),
      sql`select project_id from sandbox_faults where project_id = any(${ids}::bigint[])`,
    )
  ).map(({ project_id }) => project_id)
