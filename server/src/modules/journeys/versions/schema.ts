/** Versions of journeys on the wire and in rows. */
import { type Static, Type } from 'typebox'
import { Exact, Instant, Nullable, OneOf, Timestamp, VersionNumber } from '../../../lib/shapes.ts'
import type { Step } from '../schema.ts'
import { Steps } from '../schema.ts'
import { JourneySettings } from '../settings.ts'

const NOTE_LENGTH_MAX = 500

/** What happens to the users at a step of an earlier version. */
export type PlanEntry = 'stay' | 'exit' | 'move' | { move: string }
export type Plan = { default?: 'stay' | 'exit' | 'move'; steps?: Record<string, PlanEntry> }

const Entry = Type.Unsafe<PlanEntry>({
  description:
    '`stay`: they finish on their version. `exit`: they leave. `{"move": "<key>"}`: they continue at this step of the new version; `move` means the step with the same key.',
  published: {
    oneOf: [
      { type: 'string', enum: ['stay', 'exit', 'move'] },
      {
        type: 'object',
        properties: { move: { type: 'string', description: 'The key of a step of the new version.' } },
        required: ['move'],
        additionalProperties: false,
      },
    ],
  },
})

const Plan = Exact(
  {
    default: Type.Optional(OneOf(['stay', 'exit', 'move'], { description: 'The plan for the users at all other steps. Default: `stay`.' })),
    steps: Type.Optional(
      Type.Unsafe<Record<string, PlanEntry>>({
        type: 'object',
        description: 'The plan for the users at each step, by its key.',
        published: { additionalProperties: (Entry as unknown as { published: object }).published },
      }),
    ),
  },
  { description: 'The plan for the users who are inside on earlier versions.' },
)

export const PublishInput = Exact(
  {
    note: Type.Optional(
      Type.String({ maxLength: NOTE_LENGTH_MAX, description: 'A note about the changes, shown in the list of versions.' }),
    ),
    from_version: Type.Optional(
      VersionNumber({ description: 'Publishes a copy of this version instead of the draft. The draft does not change.' }),
    ),
    plan: Type.Optional(Plan),
  },
  { optionalBody: true },
)
export type PublishInput = Static<typeof PublishInput>

const Problem = Exact({
  param: Type.Optional(Type.String({ description: 'The path from the key of the step, such as `w1.data.hours`.' })),
  message: Type.String(),
})

/** The reply to a publication and to its preview. */
export const Publication = Exact(
  {
    version: Type.Integer({ description: 'The number of the new version.' }),
    published_at: Type.Optional(Timestamp),
    moving: Type.Integer({ description: 'How many users move to another step or exit. This happens in the background.' }),
    faults: Type.Array(Problem, { description: 'Faults that prevent publication. Empty after a publication.' }),
    warnings: Type.Array(Problem, { description: 'Warnings.' }),
    steps: Type.Array(
      Exact({
        external_id: Type.String({ description: 'The key of the step in the version that the users are on.' }),
        version: Type.Integer({ description: 'The version that the users are on.' }),
        users: Type.Integer({ description: 'How many users are at the step now.' }),
        plan: Entry,
        in_place: Type.Boolean({
          description: 'Whether the wait of these users continues, because the new version has a step with the same key and type.',
        }),
        due_now: Type.Integer({
          description:
            'How many of these users leave the step at once, because its new settings end their wait. Only the first 10,000 users at the step are considered.',
        }),
      }),
      { description: 'The steps that users on earlier versions are at.' },
    ),
  },
  { title: 'JourneyPublication' },
)
export type Publication = Static<typeof Publication>

const shown = {
  version: Type.Integer(),
  status: OneOf(['draft', 'live', 'past'], { description: 'Users enter the `live` version; users on a `past` version finish on it.' }),
}

export const Version = Exact({
  ...shown,
  users: Type.Integer({ description: 'How many users are inside on this version.' }),
  moving: Type.Integer({ description: 'How many of these users still have to move to the live version or exit.' }),
  note: Type.Optional(Type.String()),
  created_at: Timestamp,
  published_at: Type.Optional(Timestamp),
  published_by: Type.Optional(Type.Integer({ description: 'The id of the API key.' })),
})
export type Version = Static<typeof Version>

export const VersionWithSteps = Exact(
  { ...Version.properties, settings: JourneySettings, plan: Type.Optional(Plan), steps: Steps },
  { title: 'JourneyVersionWithSteps' },
)
export type VersionWithSteps = Static<typeof VersionWithSteps>

export const VersionRow = Type.Object({
  ...shown,
  steps: Type.Unsafe<Step[]>({ type: 'array' }),
  settings: Type.Unsafe<JourneySettings>({ type: 'object' }),
  plan: Nullable(Type.Unsafe<Plan>({ type: 'object' })),
  note: Nullable(Type.String()),
  created_at: Instant,
  published_at: Nullable(Instant),
  published_by: Nullable(Type.String()),
})
export type VersionRow = Static<typeof VersionRow>

export const Difference = Exact(
  {
    added: Type.Array(Type.String(), { description: 'The keys of steps that only the later version has.' }),
    removed: Type.Array(Type.String(), { description: 'The keys of steps that only the earlier version has.' }),
    changed: Type.Array(
      Exact({
        step: Type.Optional(Type.String({ description: 'The key of the step; absent for the settings of the journey.' })),
        at: Type.String({ description: 'The path in the step, such as `data.hours`, or in the settings.' }),
        from: Type.Optional(Type.Unsafe<unknown>({ description: 'The former value; absent if there was none.' })),
        to: Type.Optional(Type.Unsafe<unknown>({ description: 'The new value; absent if there is none.' })),
      }),
      { description: 'Differences in the settings and in steps that both versions have. Positions on the screen are left out.' },
    ),
  },
  { title: 'JourneyDifference' },
)
export type Difference = Static<typeof Difference>

const VersionName = Type.String({ pattern: '^(draft|live|[0-9]{1,9})$', description: '`draft`, `live`, or the number of a version.' })

export const VersionQuery = Exact({ version: Type.Optional(VersionName) })
export const DiffQuery = Exact({
  from: Type.Optional({ ...VersionName, description: 'The earlier version. Default: `live`.' }),
  to: Type.Optional({ ...VersionName, description: 'The later version. Default: `draft`.' }),
})
