import { Type } from 'typebox'
import { type Sql, sql } from '../../../infra/postgres/db.ts'
import type { Fault } from '../../../lib/errors.ts'
import type { JourneyId } from '../../../lib/ids.ts'
import { Exact, IdOf, Line, OneOf } from '../../../lib/shapes.ts'
import { describeDuration, duration, durationMs, durationProblem } from '../operators/duration.ts'
import { whenLater } from '../operators/span.ts'
import { JOURNEY_STATES, type JourneyCondition } from '../rule.ts'
import { condition, type JourneyFacts, type SqlScope, type UserFacts } from './condition.ts'

const PHRASES: Record<JourneyCondition['is'], string> = {
  inside: 'is inside',
  never_entered: 'has not entered',
  completed: 'completed',
  exited: 'exited',
  held_out: 'was held out of',
}

const broken = (param: string, message: string): Fault => ({ code: 'validation_failed', param, message })

/** The instants at which a user began to match, in milliseconds. `never_entered` matches without one. */
function beginnings({ is, step, within }: JourneyCondition, facts: JourneyFacts | undefined): number[] {
  if (!facts) return []
  switch (is) {
    case 'inside':
      return facts.inside
        .filter((entrance) => step === undefined || entrance.step === step)
        .map(({ enteredAt, arrivedAt }) => (step === undefined ? enteredAt : arrivedAt))
    case 'never_entered':
      return facts.lastEnteredAt === null ? [] : [facts.lastEnteredAt]
    case 'held_out':
      return facts.heldOutAt === null ? [] : [facts.heldOutAt]
    default:
      if (within === undefined) return facts[is] > 0 ? [0] : []
      return facts.lastOutcome === is && facts.lastEndedAt !== null ? [facts.lastEndedAt] : []
  }
}

/** Where a user is in a journey, or was (D-JRN-11). Lists with it follow as users enter, move and leave. */
export const journey = condition<JourneyCondition>({
  label: 'Journey',
  description:
    'Users who are inside a journey, who never entered it, who completed it or exited from it, or who were held out of it. ' +
    '`step` restricts `inside` to a step. With `within`, users match if, within that period, they entered or, with `step`, reached the step (`inside`), their last entrance ended this way (`completed`, `exited`), or they were held out (`held_out`). With `never_entered`, users match if they did not enter within that period.',
  shape: Exact({
    journey: IdOf<JourneyId>({ description: 'The id of the journey.' }),
    is: OneOf(JOURNEY_STATES, { description: 'Where the user is in the journey.' }),
    step: Type.Optional(Line(64, { description: 'The key of a step. Allowed only with `inside`.' })),
    within: Type.Optional(duration('Restricts the condition to what happened in this period up to now.')),
  }),
  example: { journey: 5, is: 'completed', within: '30d' },
  faults: ({ is, step, within }) => {
    const problem = within === undefined ? null : durationProblem(within)
    return [
      ...(step !== undefined && is !== 'inside' ? [broken('step', 'Only users who are `inside` are at a step. Omit `step`.')] : []),
      ...(problem ? [broken('within', `The value of \`within\` ${problem}.`)] : []),
    ]
  },
  references: (given) => [{ kind: 'journey', id: given.journey, param: 'journey' }],
  compile: (given) => {
    const { journey: id, is, within } = given
    const windowMs = within === undefined ? Number.POSITIVE_INFINITY : durationMs(within)
    const isRecent = (facts: UserFacts, nowMs: number) => beginnings(given, facts.journey(id)).some((at) => at > nowMs - windowMs)
    return {
      dependencies: [`journey:${id}`],
      needs: 'journeys',
      holds: (facts, nowMs) => isRecent(facts, nowMs) !== (is === 'never_entered'),
      ...(within !== undefined && {
        nextChangeAt: (facts: UserFacts, nowMs: number) =>
          Math.min(...beginnings(given, facts.journey(id)).map((at) => (at + windowMs > nowMs ? at + windowMs : Number.POSITIVE_INFINITY))),
      }),
      evidence: (facts) => evidenceOf(facts.journey(id)),
      sql: (scope) => sqlOf(given, scope),
    }
  },
  describe: ({ journey: id, is, step, within }, names) => {
    const at = step === undefined ? '' : ` at the step \`${step}\``
    return `${PHRASES[is]} the journey ${names.journey(id) ?? id}${at}${within === undefined ? '' : ` within ${describeDuration(within)}`}`
  },
})

function evidenceOf(facts: JourneyFacts | undefined): unknown {
  if (!facts) return { entered: 0, inside: [] }
  const { inside, entered, completed, exited, heldOutAt } = facts
  return {
    entered,
    completed,
    exited,
    inside: inside.map(({ step, arrivedAt }) => ({ step, arrived_at: new Date(arrivedAt).toISOString() })),
    ...(heldOutAt !== null && { held_out_at: new Date(heldOutAt).toISOString() }),
  }
}

/** The same as in memory: the instants as rows of `at`. */
function sqlOf(given: JourneyCondition, scope: SqlScope): { holds: Sql; nextChangeAt?: Sql } {
  const { is, within } = given
  const { now } = scope
  const rows = rowsOf(given, scope)
  if (within === undefined) {
    const found = sql`exists (${rows})`
    return { holds: is === 'never_entered' ? sql`(not ${found})` : found }
  }
  const windowMs = durationMs(within)
  const since = new Date(now.getTime() - windowMs)
  const recent = sql`exists (select from (${rows}) b where b.at > ${since})`
  const end = whenLater(sql`b.at + ${windowMs} * interval '1 millisecond'`, sql`${now}::timestamptz`)
  return {
    holds: is === 'never_entered' ? sql`(not ${recent})` : recent,
    nextChangeAt: sql`(select min(${end}) from (${rows}) b)`,
  }
}

function rowsOf({ journey: id, is, step, within }: JourneyCondition, { projectId, tables }: SqlScope): Sql {
  const summary = (at: Sql, condition: Sql) =>
    sql`select ${at} as at from ${tables.journeyUsers} j
        where j.project_id = ${projectId} and j.user_id = u.id and j.journey_id = ${id} and ${condition}`
  switch (is) {
    case 'inside':
      return step === undefined
        ? sql`select e.entered_at as at from ${tables.journeyEntrances} e
              where e.project_id = ${projectId} and e.user_id = u.id and e.journey_id = ${id}`
        : sql`select e.arrived_at as at from ${tables.journeyEntrances} e
              join ${tables.journeySteps} s on s.project_id = ${projectId} and s.journey_id = ${id} and s.id = e.step_id
              where e.project_id = ${projectId} and e.user_id = u.id and e.journey_id = ${id} and s.external_id = ${step}`
    case 'never_entered':
      return summary(sql`j.last_entered_at`, sql`j.last_entered_at is not null`)
    case 'held_out':
      return summary(sql`j.held_out_at`, sql`j.held_out_at is not null`)
    case 'completed':
    case 'exited': {
      const count = is === 'completed' ? sql`j.completed` : sql`j.exited`
      return within === undefined
        ? summary(sql`j.last_ended_at`, sql`${count} > 0`)
        : summary(sql`j.last_ended_at`, sql`j.last_outcome = ${is}`)
    }
    default:
      return is satisfies never
  }
}
