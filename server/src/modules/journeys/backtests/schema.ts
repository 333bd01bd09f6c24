import { type Static, Type } from 'typebox'
import type { BacktestId } from '../../../lib/ids.ts'
import { Exact, IdOf, Instant, Nullable, OneOf, Timestamp, VersionNumber } from '../../../lib/shapes.ts'
import { EdgeCount, StepsInput } from '../schema.ts'

const USERS_MAX = 1_000_000
const STATES = ['running', 'finished', 'cancelled', 'failed'] as const

export const BacktestInput = Exact({
  version: Type.Optional(
    VersionNumber({ description: 'The number of the version. By default the draft or, if there is none, the live version.' }),
  ),
  steps: Type.Optional({
    ...StepsInput,
    description: 'Steps as in the body of setJourneySteps, instead of a stored version.',
  }),
  since: Type.String({ format: 'time', description: 'The start of the window, at most 90 days ago.' }),
  until: Type.Optional(Type.String({ format: 'time', description: 'The end of the window. Default: now.' })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: USERS_MAX,
      description: 'The maximum number of users to simulate. By default, all users who may have entered.',
    }),
  ),
})
export type BacktestInput = Static<typeof BacktestInput>

const Counts = (description: string) => Type.Record(Type.String(), Type.Integer(), { description })

const Visit = Exact({
  step: Type.String(),
  arrived_at: Type.String(),
  left_at: Nullable(Type.String()),
  path: Nullable(Type.String()),
  reason: Nullable(Type.String()),
})

/** What a backtest found. */
export const BacktestResult = Exact({
  users: Type.Integer({ description: 'How many users were simulated.' }),
  entrants: Type.Integer({ description: 'How often users entered.' }),
  completed: Type.Integer(),
  exited: Type.Integer(),
  active: Type.Integer({ description: 'How many entrances had not ended by the end of the window.' }),
  sends: Type.Integer({ description: 'How many messages would have been sent.' }),
  skips: Counts('How many messages would have been skipped, by reason.'),
  refused: Counts('How often users did not enter, by reason.'),
  steps: Type.Record(Type.String(), Exact({ entered: Type.Integer(), left: Type.Integer() }), {
    description: 'How often users entered and left each step, by the key of the step.',
  }),
  edges: Type.Array(EdgeCount),
  inside_at_start: Type.Integer({
    description: 'How many users were inside the live journey when the window began. They are not included in the other numbers.',
  }),
  excluded: Counts('How many users were left out, by reason: `merged` or `erased` in the window.'),
  difference: Type.Record(Type.String(), Exact({ live: Type.Integer(), backtest: Type.Integer() }), {
    description: 'How often users reached each step in the live journey and in the backtest, for steps where the two differ.',
  }),
  approximate: Type.Array(Type.String(), {
    description:
      'Parts of the result that are not exact. `attributes`: some former values were too long to keep, so today’s values were used. `balancer`: the times at which users pass are right overall, but not for each user. `visits` or `time`: a user was stopped at this limit. Devices are always today’s, and suppressions that have since been lifted are not considered.',
  }),
  examples: Type.Array(Exact({ user_id: Type.Integer(), visits: Type.Array(Visit) }), {
    description: 'Up to ten users who entered, each with up to 20 visits.',
  }),
})
export type BacktestResult = Static<typeof BacktestResult>

const Progress = Exact({
  users_done: Type.Integer(),
  users_total: Nullable(Type.Integer({ description: 'How many users will be simulated; null until this is known.' })),
})

export const Backtest = Exact({
  id: IdOf<BacktestId>(),
  state: OneOf(STATES),
  since: Timestamp,
  until: Timestamp,
  version: Type.Optional(Type.Integer()),
  progress: Progress,
  result: Type.Optional(BacktestResult),
  created_at: Timestamp,
  finished_at: Type.Optional(Timestamp),
})
export type Backtest = Static<typeof Backtest>

/** What a backtest was asked for, as it is stored. */
export type BacktestParams = { version?: number; steps?: Record<string, unknown>; since: string; until: string; limit?: number }

export const BacktestRow = Type.Object({
  id: IdOf<BacktestId>(),
  state: OneOf(STATES),
  params: Type.Unsafe<BacktestParams>({}),
  users_total: Nullable(Type.Integer()),
  users_done: Type.Integer(),
  result: Nullable(Type.Unsafe<BacktestResult>({})),
  created_at: Instant,
  finished_at: Nullable(Instant),
})
export type BacktestRow = Static<typeof BacktestRow>
