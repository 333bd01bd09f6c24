/** What rules read about users and journeys. */
import { Type } from 'typebox'
import { sql } from '../../infra/postgres/db.ts'
import type { ProjectCtx } from '../../infra/runtime/ctx.ts'
import type { JourneyId, UserId } from '../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../lib/shapes.ts'

const FactsRow = Type.Object({
  user_id: IdOf<UserId>(),
  journey_id: IdOf<JourneyId>(),
  entered: Type.Integer(),
  completed: Type.Integer(),
  exited: Type.Integer(),
  last_entered_at: Nullable(Instant),
  last_ended_at: Nullable(Instant),
  last_outcome: Nullable(Type.String()),
  held_out_at: Nullable(Instant),
})

const InsideFactsRow = Type.Object({
  user_id: IdOf<UserId>(),
  journey_id: IdOf<JourneyId>(),
  external_id: Type.String(),
  entered_at: Instant,
  arrived_at: Instant,
})

type JourneyFacts = {
  entered: number
  completed: number
  exited: number
  lastEnteredAt: number | null
  lastEndedAt: number | null
  lastOutcome: string | null
  heldOutAt: number | null
  inside: { step: string; enteredAt: number; arrivedAt: number }[]
}

/** The facts about these users and journeys, by user and journey. Instants are in milliseconds. */
export async function journeyFactsOf(
  ctx: ProjectCtx,
  userIds: UserId[],
  journeyIds: JourneyId[],
): Promise<Map<UserId, Map<number, JourneyFacts>>> {
  const facts = new Map<UserId, Map<number, JourneyFacts>>()
  if (userIds.length === 0 || journeyIds.length === 0) return facts
  for (const row of await findSummaries(ctx, userIds, journeyIds)) {
    const ofUser = facts.get(row.user_id) ?? new Map<number, JourneyFacts>()
    facts.set(row.user_id, ofUser)
    ofUser.set(row.journey_id, {
      entered: row.entered,
      completed: row.completed,
      exited: row.exited,
      lastEnteredAt: row.last_entered_at?.getTime() ?? null,
      lastEndedAt: row.last_ended_at?.getTime() ?? null,
      lastOutcome: row.last_outcome,
      heldOutAt: row.held_out_at?.getTime() ?? null,
      inside: [],
    })
  }
  for (const { user_id, journey_id, external_id: step, entered_at, arrived_at } of await findInside(ctx, userIds, journeyIds))
    facts.get(user_id)?.get(journey_id)?.inside.push({ step, enteredAt: entered_at.getTime(), arrivedAt: arrived_at.getTime() })
  return facts
}

const findSummaries = (ctx: ProjectCtx, userIds: UserId[], journeyIds: JourneyId[]) =>
  ctx.db.many(
    FactsRow,
    sql`select user_id, journey_id, entered, completed, exited, last_entered_at, last_ended_at, last_outcome, held_out_at
        from journey_users
        where project_id = ${ctx.projectId} and user_id = any(${userIds}::bigint[]) and journey_id = any(${journeyIds}::bigint[])`,
  )

const findInside = (ctx: ProjectCtx, userIds: UserId[], journeyIds: JourneyId[]) =>
  ctx.db.many(
    InsideFactsRow,
    sql`select e.user_id, e.journey_id, s.external_id, e.entered_at, e.arrived_at
        from journey_entrances e
        join journey_steps s on s.project_id = ${ctx.projectId} and s.journey_id = e.journey_id and s.id = e.step_id
        where e.project_id = ${ctx.projectId} and e.user_id = any(${userIds}::bigint[]) and e.journey_id = any(${journeyIds}::bigint[])`,
  )

const KnownRow = Type.Object({ id: IdOf<JourneyId>() })

/** The journeys of the project among these ids that have or had steps, as far as rules can name them. */
export const journeysWithSteps = (ctx: ProjectCtx, ids: number[]) =>
  ctx.db.many(
    KnownRow,
    sql`select distinct journey_id as id from journey_steps
        where project_id = ${ctx.projectId} and journey_id = any(${ids}::bigint[])`,
  )
