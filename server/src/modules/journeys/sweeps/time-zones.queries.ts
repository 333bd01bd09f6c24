import { Type } from 'typebox'
import { sql } from '../../../infra/postgres/db.ts'
import type { InTx } from '../../../infra/runtime/ctx.ts'
import { Instant } from '../../../lib/shapes.ts'
import type { ScheduleParams } from './kinds.ts'

const ScheduleRow = Type.Object({ id: Type.Integer(), params: Type.Unsafe<ScheduleParams>({ type: 'object' }), next_at: Instant })

/** The schedules of a project, locked: none is being worked on. Those of archived journeys are looked up when they are restored. */
export const lockSchedules = (ctx: InTx) =>
  ctx.db.many(
    ScheduleRow,
    sql`select id, params, next_at from journey_sweeps
        where project_id = ${ctx.projectId} and kind = 'schedule'
          and journey_id in (select id from journeys where project_id = ${ctx.projectId} and archived_at is null)
        order by id for update`,
  )

/** Notes the time zone in which schedules became due. */
export const keepZone = (ctx: InTx, ids: number[], zone: string) =>
  ctx.db.run(
    sql`update journey_sweeps set params = jsonb_build_object('due_zone', ${zone}::text) || params
        where project_id = ${ctx.projectId} and id = any(${ids}::bigint[])`,
  )
