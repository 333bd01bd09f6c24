import { sql } from '../../infra/postgres/db.ts'
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { JourneyId } from '../../lib/ids.ts'

/** Frees the places in the rates of a journey, or of some of its steps: the next one is now. */
export const freePlaces = (ctx: InTx, journeyId: JourneyId, stepIds: number[] | null = null): Promise<number> => {
  const now = ctx.clock.now()
  return ctx.db.run(
    sql`with taken as (
          select step_id from journey_rates
          where project_id = ${ctx.projectId} and journey_id = ${journeyId} and next_at > ${now}
            and (${stepIds}::bigint[] is null or step_id = any(${stepIds}::bigint[]))
          order by step_id
          for update
        )
        update journey_rates r set next_at = ${now}
        from taken t
        where r.project_id = ${ctx.projectId} and r.journey_id = ${journeyId} and r.step_id = t.step_id`,
  )
}
