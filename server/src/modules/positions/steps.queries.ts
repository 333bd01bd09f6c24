/** The register of step ids. A key keeps its id for ever, also when no version of the journey has the step any more. */
import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { InTx, ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { JourneyId } from '../../lib/ids.ts'
import { IdOf } from '../../lib/shapes.ts'

const StepRow = Type.Object({ id: Type.Integer(), external_id: Type.String() })

/** Gives ids to keys that have none yet, in their order. */
export const registerSteps = (ctx: ProjectCtx, journeyId: JourneyId, keys: string[]): Promise<number> =>
  ctx.db.run(
    sql`insert into journey_steps (project_id, journey_id, external_id)
        select ${ctx.projectId}, ${journeyId}, k.external_id
        from unnest(${keys}::text[]) with ordinality as k(external_id, place)
        where not exists (select from journey_steps s
                          where s.project_id = ${ctx.projectId} and s.journey_id = ${journeyId} and s.external_id = k.external_id)
        order by k.place
        on conflict (project_id, journey_id, external_id) do nothing`,
  )

/** Every step that a version of the journey has or had. */
export const registeredSteps = (ctx: ProjectCtx, journeyId: JourneyId) =>
  ctx.db.many(
    StepRow,
    sql`select id, external_id from journey_steps where project_id = ${ctx.projectId} and journey_id = ${journeyId} order by id`,
  )

const JourneyStepRow = Type.Object({ journey_id: IdOf<JourneyId>(), ...StepRow.properties })

/** Every step that a version of these journeys has or had. */
export const stepsOfJourneys = (ctx: ProjectCtx | InTx, journeyIds: JourneyId[]) =>
  ctx.db.many(
    JourneyStepRow,
    sql`select journey_id, id, external_id from journey_steps where project_id = ${ctx.projectId} and journey_id = any(${journeyIds}::bigint[])`,
  )
