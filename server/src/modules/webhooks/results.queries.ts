import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { Ctx, InTx } from '../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { IdOf } from '../../lib/shapes.ts'
import type { DeliveryId } from './schema.ts'

/** The result of one attempt; `next_attempt_at` is null when it was the last. */
export type DeliveryResult = {
  id: DeliveryId
  project_id: ProjectId
  attempts: number
  schedule_step: number
  due_at: Date
  status: 'succeeded' | 'pending' | 'failed'
  status_code: number | null
  error: string | null
  response_body: string | null
  attempted_at: Date
  elapsed_ms: number
  next_attempt_at: Date | null
}

/** Whether a delivery was sent again after its claim, whose time is in milliseconds. */
const isSentAgain = sql`(d.status = 'pending'
                         and (d.schedule_step <> o.schedule_step or date_trunc('milliseconds', d.next_attempt_at) <> o.due_at))`

const SavedRow = Type.Object({ delivery_id: IdOf<DeliveryId>() })

/**
 * Saves attempts, and returns the deliveries of those that it saved. A worker that lost its lease is recognised by the number of earlier attempts. A delivery that was cancelled meanwhile
 * stays so, unless it succeeded. One that was sent again meanwhile is still due and begins its schedule anew, unless it succeeded: it has another
 * step, or another time at the first step. The ids of the deliveries are compared a second time, so that no other delivery is read.
 */
export const saveDeliveryResults = (ctx: InTx<Ctx>, results: DeliveryResult[]) =>
  ctx.db.many(
    SavedRow,
    sql`with outcomes as (
          select * from json_to_recordset(${JSON.stringify(results)}::json)
            as o (id bigint, project_id bigint, attempts int, schedule_step int, due_at timestamptz, status text, status_code int, error text,
                  response_body text, attempted_at timestamptz, elapsed_ms int, next_attempt_at timestamptz)
        ),
        saved as (
          update webhook_deliveries d
          set attempts = d.attempts + 1,
              schedule_step = d.schedule_step + case when ${isSentAgain} then 0 else 1 end,
              status = case when o.status = 'succeeded' or (d.status = 'pending' and not ${isSentAgain}) then o.status else d.status end,
              next_attempt_at = case when d.status <> 'pending' then null
                                     when ${isSentAgain} and o.status <> 'succeeded' then d.next_attempt_at
                                     else o.next_attempt_at end,
              last_status_code = o.status_code,
              last_error = o.error,
              lease_until = null
          from outcomes o
          where d.project_id = any(${results.map(({ project_id }) => project_id)}::bigint[]) and d.id = any(${results.map(({ id }) => id)}::bigint[])
            and d.project_id = o.project_id and d.id = o.id and d.attempts = o.attempts
          returning d.project_id, d.id
        )
        insert into webhook_attempts (project_id, delivery_id, attempted_at, elapsed_ms, status_code, error, response_body)
        select o.project_id, o.id, o.attempted_at, o.elapsed_ms, o.status_code, o.error, o.response_body
        from outcomes o join saved using (project_id, id)
        returning delivery_id`,
  )
