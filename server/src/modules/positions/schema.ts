import { type Static, Type } from 'typebox'
import type { JourneyId, UserId } from '../../lib/ids.ts'
import { IdOf, Instant, Nullable } from '../../lib/shapes.ts'

/** A column of JSON whose shape this module wrote. */
export const Json = <T>() => Type.Unsafe<T>({})

/** A visit of a step, as it is stored in the trail of an entrance. */
export type TrailVisit = {
  step: string
  visit: number
  arrived_at: string
  left_at: string | null
  path: string | null
  reason: string | null
  seen: Record<string, unknown>
}

/** The event that a user entered with. */
export type EntranceEvent = { name: string; data: Record<string, unknown>; created_at: string }

/** What a webhook step received. */
export type StepAnswer = { status: number | null; body: unknown }

/** A user inside a journey. */
export const EntranceRow = Type.Object({
  user_id: IdOf<UserId>(),
  entrance_id: Type.Integer(),
  journey_id: IdOf<JourneyId>(),
  step_id: Type.Integer(),
  version: Type.Integer(),
  visit: Type.Integer(),
  depth: Type.Integer(),
  attempts: Type.Integer(),
  is_held: Type.Boolean(),
  entered_at: Instant,
  arrived_at: Instant,
  acted_at: Instant,
  due_at: Nullable(Instant),
  until: Nullable(Instant),
  slot: Type.String(),
  key: Nullable(Type.String()),
  cause: Type.String(),
  waits: Type.Array(Type.String()),
  parked: Nullable(Type.String()),
  event: Nullable(Json<EntranceEvent>()),
  answers: Json<Record<string, StepAnswer>>(),
  seen: Json<Record<string, string>>(),
  trail: Json<TrailVisit[]>(),
})
export type EntranceRow = Static<typeof EntranceRow>

/** An entrance that ended. */
export type PastEntrance = Pick<
  EntranceRow,
  | 'user_id'
  | 'entrance_id'
  | 'journey_id'
  | 'step_id'
  | 'version'
  | 'visit'
  | 'depth'
  | 'entered_at'
  | 'arrived_at'
  | 'key'
  | 'cause'
  | 'event'
  | 'answers'
  | 'trail'
> & { ended_at: Date; outcome: 'completed' | 'exited'; reason: string }

/** The timer of an entrance that waits. */
export const TimerRow = Type.Object({
  journey_id: IdOf<JourneyId>(),
  due_at: Instant,
  user_id: IdOf<UserId>(),
  entrance_id: Type.Integer(),
  visit: Type.Integer(),
})
export type TimerRow = Static<typeof TimerRow>

/** The stored history of a user in a journey, which is never deleted. */
export const JourneyUserRow = Type.Object({
  user_id: IdOf<UserId>(),
  journey_id: IdOf<JourneyId>(),
  entered: Type.Integer(),
  completed: Type.Integer(),
  exited: Type.Integer(),
  active: Type.Integer(),
  first_entered_at: Nullable(Instant),
  last_entered_at: Nullable(Instant),
  last_ended_at: Nullable(Instant),
  held_out_at: Nullable(Instant),
  goal_until: Nullable(Instant),
  last_outcome: Nullable(Type.String()),
  arm: Nullable(Type.String()),
  goals: Json<Record<string, string>>(),
})
export type JourneyUserRow = Static<typeof JourneyUserRow>

/** What a batch changes about a user and a journey: numbers are added, the others replace what is stored unless they are null. */
export type JourneyUserChange = Omit<JourneyUserRow, 'first_entered_at'>
