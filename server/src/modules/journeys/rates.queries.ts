import { sql } from '../../infra/postgres/db.ts'
import type { InTx } from '../../infra/runtime/ctx.ts'
import type { JourneyId } from '../../lib/ids.ts'

/** Frees the places in all rates of a journey: the next one is now. */
export const freeAllPlaces = (ctx: InTx, journeyId: JourneyId): Promise<number> => {
  const now = ctx.clock.now()
  return ctx.db.run(
    sql`with taken as (
          select step_id from journey_rates
          where project_id = ${ctx.projectId} and journey_id = ${journeyId} and next_at > ${now}
          order by step_id
          for update
        )
        update journey_rates r set next_at = ${now}
        from taken t
        where r.project_id = ${ctx.projectId} and r.journey_id = ${journeyId} and r.step_id = t.step_id`,
  )
}

/** Frees the places in rates of steps: the next one is now, or `from` if that is later. */
export const freePlaces = (ctx: InTx, journeyId: JourneyId, steps: { step_id: number; from: Date | null }[]): Promise<number> => {
  const now = ctx.clock.now()
  const ids = steps.map(({ step_id }) => step_id)
  const froms = steps.map(({ from }) => (from !== null && from > now ? from : now))
  return ctx.db.run(
    sql`with taken as (
          select r.step_id, w.next_at
          from unnest(${ids}::bigint[], ${froms}::timestamptz[]) as w(step_id, next_at)
          join journey_rates r on r.step_id = w.step_id
          where r.project_id = ${ctx.projectId} and r.journey_id = ${journeyId} and r.next_at > w.next_at
          order by r.step_id
          for update of r
        )
        update journey_rates r set next_at = t.next_at
        from taken t
        where r.project_id = ${ctx.projectId} and r.journey_id = ${journeyId} and r.step_id = t.step_id`,
  )
}
