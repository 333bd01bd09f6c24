import { type Static, Type } from 'typebox'
import type { CampaignId, ListId } from '../../../lib/ids.ts'
import { Exact, FreeForm, IdOf, Line, Nullable, OneOf, Timestamp, VersionNumber } from '../../../lib/shapes.ts'
import { Identifier, profile } from '../../users/index.ts'
import { StepsInput } from '../schema.ts'

const INPUTS_MAX = 200
const DATA_BYTES_MAX = 65_536
const STATUS_MAX = 599
const KEY_LENGTH_MAX = 64

/** States of a message at which the user waits no longer. */
const OUTCOMES = ['sent', 'delivered', 'bounced', 'complained', 'failed', 'skipped', 'aborted', 'unknown'] as const

const Input = Exact(
  {
    at: Type.String({ format: 'time' }),
    event: Type.Optional(
      Exact({ name: Line(255), data: Type.Optional(FreeForm(DATA_BYTES_MAX)) }, { description: 'An event of the user.' }),
    ),
    profile: Type.Optional(Exact(profile, { description: 'Attributes to change. Null removes an attribute.' })),
    list_entered: Type.Optional(IdOf<ListId>({ description: 'The user enters the list with this id.' })),
    list_left: Type.Optional(IdOf<ListId>({ description: 'The user leaves the list with this id.' })),
  },
  { description: 'Something that happens to the user at a given time.' },
)
export type SimulationStep = Static<typeof Input>

const Key = Type.String({ maxLength: KEY_LENGTH_MAX })

/** What is asked of a simulation. */
export const SimulationInput = Exact({
  version: Type.Optional(
    VersionNumber({ description: 'The number of the version. By default the draft or, if there is none, the live version.' }),
  ),
  steps: Type.Optional({
    ...StepsInput,
    description: 'Steps as in the body of setJourneySteps, instead of a stored version.',
  }),
  user: Exact(
    {
      external_id: Type.Optional(Identifier),
      profile: Type.Optional(Exact(profile, { description: 'The attributes of a made-up user.' })),
    },
    { description: 'A user of the project by `external_id`, with current data, or a made-up user with a `profile`.' },
  ),
  entrance: Type.Optional(
    Line(KEY_LENGTH_MAX, {
      description:
        'The key of the entrance through which the user enters at the time `at`. By default the user enters through an input. Without inputs, or if users enter the journey only through requests or links, the default is the first entrance.',
    }),
  ),
  at: Type.Optional(Type.String({ format: 'time', description: 'When the simulation begins. Default: now.' })),
  inputs: Type.Optional(Type.Array(Input, { maxItems: INPUTS_MAX, description: 'The inputs for the user, in any order.' })),
  answers: Type.Optional(
    Type.Record(
      Key,
      Exact({
        status: Type.Integer({ minimum: 100, maximum: STATUS_MAX }),
        body: Type.Optional(Type.Unsafe<unknown>({ description: 'The body of the answer, as JSON or text.' })),
      }),
      {
        description: 'The simulated replies to webhook steps, by the key of the step. By default, the status is 200 and the body is `{}`.',
      },
    ),
  ),
  outcomes: Type.Optional(
    Type.Record(Key, OneOf(OUTCOMES), {
      description:
        'The simulated result of messages, by the key of the step. By default `sent`, or `skipped` for a user who would get nothing.',
    }),
  ),
  until: Type.Optional(
    Type.String({
      format: 'time',
      description: 'When the simulation ends. The default, and the latest time allowed, is five years after `at`.',
    }),
  ),
})
export type SimulationInput = Static<typeof SimulationInput>

const SimulatedVisit = Exact({
  entrance: Type.Integer({ minimum: 1, description: 'The number of the entrance that the visit belongs to, counted from 1.' }),
  visit: Type.Integer({ minimum: 1, description: 'The number of the visit in the entrance.' }),
  step: Type.String(),
  arrived_at: Timestamp,
  left_at: Nullable(Timestamp),
  path: Nullable(Type.String({ description: 'The path that the user took.' })),
  reason: Nullable(Type.String({ description: 'The reason, as a stable code.' })),
  seen: Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'The values that the decision was based on.' }),
  sentence: Type.String({ description: 'The visit in words.' }),
})

const SimulatedMessage = Exact({
  step: Type.String(),
  visit: Type.Integer(),
  campaign_id: IdOf<CampaignId>(),
  at: { ...Timestamp, description: 'When the user reaches the step that sends the message.' },
  eligible: Type.Boolean({ description: 'Whether the user would get the message. Frequency caps and quiet hours are ignored.' }),
  reason: Nullable(Type.String({ description: 'Why the user would get nothing: a skip reason, or `campaign_stopped`.' })),
  rendered: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'The content for this user. Only the first 50 messages have it.' }),
  ),
  problem: Type.Optional(Type.String({ description: 'Why the message cannot be rendered.' })),
})

export const SimulationResult = Exact({
  visits: Type.Array(SimulatedVisit, { description: 'Visits to steps, in order; at most 500.' }),
  messages: Type.Array(SimulatedMessage, { description: 'The messages of the steps that the user reached, in order.' }),
  refused: Type.Array(Exact({ at: { ...Timestamp, description: 'When the user would have entered.' }, reason: Type.String() }), {
    description: 'When the user did not enter, and why.',
  }),
  outcome: Nullable(
    Exact({ as: OneOf(['completed', 'exited']), reason: Type.String(), at: { ...Timestamp, description: 'When the entrance ended.' } }),
  ),
  next_due: Nullable({ ...Timestamp, description: 'The time of the next decision about the user; null if the user is not inside.' }),
  stopped: Type.Optional(
    OneOf(['visits', 'time'], { description: 'The limit at which the simulation stopped: 500 visits or two seconds.' }),
  ),
})
export type SimulationResult = Static<typeof SimulationResult>
