import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { InTx } from '../../../infra/runtime/ctx.ts'
import { Instant } from '../../../lib/shapes.ts'

const Refusals = Type.Object({ refused: Type.Integer(), reported_at: Instant })

/** How many submissions a quota has refused since its last event, locked. */
export const lockRefusals = (ctx: InTx, quota: string) =>
  ctx.db.first(
    Refusals,
    sql`select refused, reported_at from quota_refusals where project_id = ${ctx.projectId} and quota = ${quota} for update`,
  )

export const saveRefusals = (ctx: InTx, quota: string, refused: number, reportedAt: Date) =>
  ctx.db.run(
    sql`insert into quota_refusals (project_id, quota, refused, reported_at) values (${ctx.projectId}, ${quota}, ${refused}, ${reportedAt})
        on conflict (project_id, quota) do update set refused = excluded.refused, reported_at = excluded.reported_at`,
  )
