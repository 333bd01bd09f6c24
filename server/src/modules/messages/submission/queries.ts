import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { InTx } from '../../../infra/runtime/ctx.ts'
import { Instant } from '../../../lib/shapes.ts'

const Refusals = Type.Object({ refused: Type.Integer(), reported_at: Instant })

/**
 * Counts a submission that a quota refused. Returns how many it has refused since its last event: none with the first one of all, whose event is
 * the next. Others at the same time wait for it.
 */
export const countRefusal = (ctx: InTx, quota: string) =>
  ctx.db.one(
    Refusals,
    sql`insert into quota_refusals as q (project_id, quota, refused, reported_at) values (${ctx.projectId}, ${quota}, 0, ${ctx.clock.now()})
        on conflict (project_id, quota) do update set refused = q.refused + 1
        returning refused, reported_at`,
  )

/** Begins to count anew, because there is an event now. */
export const beginRefusals = (ctx: InTx, quota: string) =>
  ctx.db.run(
    sql`update quota_refusals set refused = 0, reported_at = ${ctx.clock.now()} where project_id = ${ctx.projectId} and quota = ${quota}`,
  )
