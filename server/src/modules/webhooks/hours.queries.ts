import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { Ctx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { EndpointId, ProjectId } from '../../lib/ids.ts'
import { IdOf, Instant } from '../../lib/shapes.ts'

/** How many attempts of an endpoint succeeded and failed in an hour. */
export type HourCount = { projectId: ProjectId; endpointId: EndpointId; hour: Date; succeeded: number; failed: number }

/** Adds attempts to the counts of their hours. Rows are always locked in the same order. */
export const addHours = (ctx: Ctx, counts: HourCount[]) =>
  ctx.db.run(
    sql`insert into webhook_hours as h (project_id, endpoint_id, hour, succeeded, failed)
        select c.* from unnest(${counts.map(({ projectId }) => projectId)}::bigint[], ${counts.map(({ endpointId }) => endpointId)}::bigint[],
                               ${counts.map(({ hour }) => hour)}::timestamptz[], ${counts.map(({ succeeded }) => succeeded)}::int[],
                               ${counts.map(({ failed }) => failed)}::int[])
          as c (project_id, endpoint_id, hour, succeeded, failed)
        join webhook_endpoints e on e.project_id = c.project_id and e.id = c.endpoint_id
        order by c.project_id, c.endpoint_id, c.hour
        on conflict (project_id, endpoint_id, hour) do update
          set succeeded = h.succeeded + excluded.succeeded, failed = h.failed + excluded.failed`,
  )

const HourRow = Type.Object({ endpoint_id: IdOf<EndpointId>(), hour: Instant, succeeded: Type.Integer(), failed: Type.Integer() })

/** The hours with attempts, from this hour on. */
export const listHours = (ctx: ProjectCtx, from: Date) =>
  ctx.db.many(
    HourRow,
    sql`select h.endpoint_id, h.hour, h.succeeded, h.failed
        from webhook_hours h
        join webhook_endpoints e on e.project_id = h.project_id and e.id = h.endpoint_id
        where h.project_id = ${ctx.projectId} and h.hour >= ${from} and e.archived_at is null
        order by h.endpoint_id, h.hour`,
  )

export const purgeHours = (ctx: Ctx, before: Date, limit: number) =>
  ctx.db.run(
    sql`delete from webhook_hours
        where (project_id, endpoint_id, hour) in (select project_id, endpoint_id, hour from webhook_hours where hour < ${before} limit ${limit})`,
  )
