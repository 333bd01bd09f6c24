/** Statistics and users of journeys on the wire. */
import { type Static, Type } from 'typebox'
import type { JourneyId } from '../../../lib/ids.ts'
import { Exact, IdOf, Line, Nullable, OneOf, Timestamp } from '../../../lib/shapes.ts'
import { EdgeCount, StepStats } from '../schema.ts'

const Counts = (description: string) => Type.Record(Type.String(), Type.Integer(), { description })

export const Statistics = Exact(
  {
    entered: Type.Integer({ description: 'How often users entered: the sum of `active`, `completed` and `exited`.' }),
    active: Type.Integer(),
    completed: Type.Integer(),
    exited: Type.Integer(),
    stats_at: Type.Optional({ ...Timestamp, description: 'When a user was last counted.' }),
    held_out: Type.Integer({ description: 'How many users were held out. They are not in `entered`.' }),
    refused: Counts('How often users did not enter, by reason.'),
    reasons: Counts('How many entrances ended, by reason.'),
    steps: Type.Record(Type.String(), StepStats, { description: 'The statistics of each step by key, across all versions.' }),
    edges: Type.Array(EdgeCount, { description: 'How many users moved along each connection between two steps.' }),
    goals: Type.Array(
      Exact({
        name: Type.String(),
        arm: Nullable(
          Type.String({
            description:
              'The path that the users took at the last experiment before they reached the goal; null for users who came to none.',
          }),
        ),
        users: Type.Integer({ description: 'How many users reached the goal.' }),
        rate: Type.Number({
          description:
            '`users` as a share of all users who took this path, also of those who came to a later experiment; without an `arm`, of all who entered.',
        }),
        holdout_rate: Type.Optional(Type.Number({ description: 'The share of held-out users who reached the goal.' })),
      }),
      { description: 'The goals of the live version, by arm.' },
    ),
  },
  { title: 'JourneyStatistics' },
)
export type Statistics = Static<typeof Statistics>

const STATES = ['inside', 'parked', 'completed', 'exited', 'held_out'] as const

export const UsersQuery = Exact({
  step: Type.Optional(Line(64, { description: 'Only users at this step.' })),
  state: Type.Optional(
    OneOf(STATES, {
      description:
        '`inside` (default): entrances that have not ended. `parked`: those whose decision failed. `completed`, `exited`: users whose last entrance ended that way. `held_out`: users who were held out.',
    }),
  ),
})
export type UsersQuery = Static<typeof UsersQuery>

const UserRef = Exact({ id: Type.Integer(), external_id: Nullable(Type.String()) }, { description: 'The user.' })
const State = OneOf(['inside', 'completed', 'exited', 'held_out'], { description: 'Where the user is in the journey.' })

export const JourneyUser = Exact({
  user: UserRef,
  state: State,
  entrance_id: Type.Optional(Type.Integer()),
  version: Type.Optional(Type.Integer()),
  step: Type.Optional(Type.String({ description: 'The key of the step at which the user is.' })),
  visit: Type.Optional(Type.Integer({ description: 'The number of the visit in the entrance.' })),
  key: Type.Optional(Type.String({ description: 'The entry key.' })),
  held: Type.Optional(Type.Boolean({ description: 'True if the user waits here because the journey is on hold.' })),
  parked: Type.Optional(Type.String({ description: 'Why the decision failed. The decision is retried.' })),
  entered_at: Type.Optional(Timestamp),
  arrived_at: Type.Optional({ ...Timestamp, description: 'When the user reached the step.' }),
  due_at: Type.Optional({ ...Timestamp, description: 'The latest time at which the wait ends.' }),
  ended_at: Type.Optional(Timestamp),
})
export type JourneyUser = Static<typeof JourneyUser>

/** The journeys in which a user is. */
export const JourneysOfUser = Exact({
  results: Type.Array(
    Exact({
      journey_id: IdOf<JourneyId>(),
      journey_name: Type.String({ description: 'The name of the journey.' }),
      entrance_id: Type.Integer(),
      version: Type.Integer(),
      step: Type.String({ description: 'The key of the step at which the user is.' }),
      key: Type.Optional(Type.String({ description: 'The entry key.' })),
      held: Type.Optional(Type.Boolean({ description: 'True if the user waits here because the journey is on hold.' })),
      parked: Type.Optional(Type.String({ description: 'Why the decision failed. The decision is retried.' })),
      entered_at: Timestamp,
      arrived_at: { ...Timestamp, description: 'When the user reached the step.' },
      due_at: Type.Optional({ ...Timestamp, description: 'The latest time at which the wait ends.' }),
    }),
    { description: 'An item for each entrance that has not ended, the newest first; at most 100.' },
  ),
})
export type JourneysOfUser = Static<typeof JourneysOfUser>

const Seen = Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'The values that the decision was based on.' })

const TimelineVisit = Exact({
  visit: Type.Integer(),
  step: Type.String(),
  arrived_at: Timestamp,
  left_at: Nullable(Timestamp),
  path: Nullable(Type.String()),
  reason: Nullable(Type.String({ description: 'The reason as a stable code, such as `rule` or `elapsed`.' })),
  seen: Seen,
  sentence: Type.String({ description: 'The decision in words.' }),
})

const TimelineEntrance = Exact({
  entrance_id: Type.Integer(),
  version: Type.Integer(),
  cause: Exact({
    is: Type.String({ description: '`event`, `list`, `schedule`, `api` or `link`.' }),
    name: Type.Optional(
      Type.String({
        description:
          'More about the cause: the name of the event, the id of the list, the key of the entrance with the schedule, the key of the request, or the id of the entrance that linked to this journey.',
      }),
    ),
  }),
  key: Type.Optional(Type.String({ description: 'The entry key.' })),
  entered_at: Timestamp,
  ended_at: Type.Optional(Timestamp),
  outcome: Nullable(OneOf(['completed', 'exited'], { description: 'How the entrance ended; null while the user is inside.' })),
  reason: Type.Optional(Type.String({ description: 'Why the entrance ended.' })),
  step: Type.Optional(Type.String({ description: 'Where the user is in the journey.' })),
  due_at: Type.Optional({ ...Timestamp, description: 'The latest time at which the wait ends.' }),
  held: Type.Optional(Type.Boolean()),
  parked: Type.Optional(Type.String()),
  visits: Type.Array(TimelineVisit),
})
export type TimelineEntrance = Static<typeof TimelineEntrance>

export const Timeline = Exact(
  {
    entered: Type.Integer(),
    completed: Type.Integer(),
    exited: Type.Integer(),
    active: Type.Integer(),
    held_out_at: Type.Optional(Timestamp),
    arm: Type.Optional(Type.String({ description: 'The path that the user took at the last experiment.' })),
    entrances: Type.Array(TimelineEntrance, {
      description:
        'The entrances that have not ended, followed by the latest 50 that have, each group newest first. Ended entrances are kept for `JOURNEY_HISTORY_DAYS`.',
    }),
  },
  { title: 'JourneyTimeline' },
)
export type Timeline = Static<typeof Timeline>

const Check = Exact({
  check: Type.String({
    description:
      'The reason that is counted if the check fails: `not_live`, `too_old`, `where`, `rule`, `excluded`, `held_out`, … Not counted are `imports`, for the event of an import at an entrance without `imports`, and `own_message`, for an open or a click of a message of this journey: both are listed only if they fail, and first. Not listed are `inherited` and `loop_depth`, because no event says later that it came with a merge, or how many journeys led to it.',
  }),
  passed: Type.Boolean(),
  seen: Type.Optional(Type.Unsafe<unknown>({ description: 'The values that the check read.' })),
})
export type Check = Static<typeof Check>

export const EntryExplanation = Exact(
  {
    facts: Type.Array(
      Exact({
        event: Type.Optional(Type.String({ description: 'The name of the event.' })),
        list: Type.Optional(Type.Integer({ description: 'The list that the user entered or left.' })),
        at: { ...Timestamp, description: 'The time of the event or of the list change.' },
        entrance: Type.String({ description: 'The key of the entrance.' }),
        checks: Type.Array(Check, {
          description:
            'The checks, in the order in which they are made. Rules, lists and earlier entrances are checked against current data.',
        }),
      }),
      { description: 'The last 20 events and list changes that an entrance reacts to, newest first.' },
    ),
    now: Exact({ checks: Type.Array(Check) }, { description: 'The checks that do not depend on an event or a list change, as of now.' }),
  },
  { title: 'JourneyEntryExplanation' },
)
export type EntryExplanation = Static<typeof EntryExplanation>
