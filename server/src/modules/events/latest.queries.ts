import { type Static, Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { UserId } from '../../lib/ids.ts'
import { Instant, OneOf } from '../../lib/shapes.ts'
import { EVENT_SOURCES } from './event.ts'

const LatestRow = Type.Object({
  name: Type.String(),
  source: OneOf(EVENT_SOURCES),
  data: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
  created_at: Instant,
  received_at: Instant,
})
export type LatestEvent = Static<typeof LatestRow>

/** The latest events with any of these names that are stored under any of these ids, the latest first. */
export const latestEvents = (ctx: ProjectCtx, ids: UserId[], names: string[], limit: number): Promise<LatestEvent[]> =>
  ctx.db.many(
    LatestRow,
    sql`select name, coalesce(source, 'api') as source, data, created_at, received_at from events
        where project_id = ${ctx.projectId} and user_id = any(${ids}::bigint[]) and name = any(${names}::text[])
          and created_at <= ${ctx.clock.now()}
        order by created_at desc, seq desc
        limit ${limit}`,
  )
