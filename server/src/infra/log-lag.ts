import { Type } from 'typebox'
import type { ProjectId } from '../lib/ids.ts'
import { Instant } from '../lib/shapes.ts'
import type { Ctx } from './ctx.ts'
import { sql } from './db.ts'

const Oldest = Type.Object({ received_at: Instant })

/** How long the oldest accepted request of a project has waited to be applied: what can wait gives way to it. */
export async function logLagMs(ctx: Ctx, projectId: ProjectId): Promise<number> {
  const oldest = await ctx.db.first(
    Oldest,
    sql`select received_at from accepted_requests where project_id = ${projectId} order by position limit 1`,
  )
  return oldest ? ctx.clock.now().getTime() - oldest.received_at.getTime() : 0
}
