import { type Static, type TSchema, Type } from 'typebox'
import type { JourneyId, ProjectId } from '../../lib/ids.ts'
import { ArchivedAt, Changes, componentRef, Exact, IdOf, Instant, Line, Name, Nullable, OneOf, Tags, Timestamp } from '../../lib/shapes.ts'
import { JourneySettings } from './settings.ts'
import * as kinds from './steps/index.ts'
import type { StepKind } from './steps/step.ts'

const Status = OneOf(['draft', 'live', 'off'], {
  description:
    'A `draft` is work in progress. Users enter a journey that is `live`, but not one that is `off`. Setting `live` or `off` needs `publisher`.',
})
const Description = Type.String({ maxLength: 5000, description: 'A note for your team. An empty text removes it.' })

export const JourneyInput = Exact({
  name: Name(),
  status: Type.Optional(Status),
  description: Type.Optional(Description),
  tags: Type.Optional(Tags),
})
export type JourneyInput = Static<typeof JourneyInput>

export const JourneyChanges = Changes({
  name: Name(),
  status: Status,
  description: Nullable(Description),
  tags: Tags,
  settings: JourneySettings,
})
export type JourneyChanges = Static<typeof JourneyChanges>

const columns = {
  id: IdOf<JourneyId>(),
  project_id: IdOf<ProjectId>(),
  name: Type.String(),
  status: Status,
  tags: Type.Array(Type.String()),
}

const JourneyStats = Exact(
  {
    entered: Type.Optional(Type.Integer({ description: 'How often users entered: the sum of `active`, `completed` and `exited`.' })),
    active: Type.Optional(Type.Integer({ description: 'How many entrances have not ended.' })),
    completed: Type.Optional(Type.Integer({ description: 'How many entrances were completed.' })),
    exited: Type.Optional(Type.Integer({ description: 'How many entrances ended before completion.' })),
  },
  { description: 'Empty until users have entered. Users who were held out are not included.' },
)
export type JourneyStats = Static<typeof JourneyStats>

/** How many users went from one step to another. */
export const EdgeCount = Exact({
  from: Type.String({ description: 'The key of the step that users left.' }),
  path: Type.String(),
  to: Type.String({ description: 'The key of the step that the users reached.' }),
  users: Type.Integer(),
})

export const StepStats = Exact(
  {
    entered: Type.Optional(Type.Integer({ description: 'How often users reached the step.' })),
    active: Type.Optional(Type.Integer({ description: 'How many users are at the step now.' })),
    left: Type.Optional(Type.Integer({ description: 'How many users left the step, including those who left the journey at this step.' })),
    paths: Type.Optional(Type.Record(Type.String(), Type.Integer(), { description: 'How many users left by each path.' })),
  },
  { description: 'Empty until users have entered the journey. The numbers are sums over all versions.' },
)
export type StepStats = Static<typeof StepStats>

const StatsAt = Type.Optional({ ...Timestamp, description: 'When a user was last counted.' })

/** A journey in API replies (D-JRN-1). */
export const Journey = Exact({
  ...columns,
  description: Type.Optional(Type.String()),
  settings: Type.Optional(JourneySettings),
  live_version: Type.Optional(
    Type.Integer({ description: 'The number of the version that users enter; absent before the first publication.' }),
  ),
  is_held: Type.Optional(Type.Boolean({ description: 'True while the journey is on hold; otherwise absent.' })),
  drain_until: Type.Optional({
    ...Timestamp,
    description: 'The time at which remaining users exit, if the journey was switched off with `within`.',
  }),
  stats: JourneyStats,
  stats_at: StatsAt,
  archived_at: ArchivedAt,
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Journey = Static<typeof Journey>

export const JourneyRow = Type.Object({
  ...columns,
  description: Nullable(Type.String()),
  live_version: Nullable(Type.Integer()),
  is_held: Type.Boolean(),
  drain_until: Nullable(Instant),
  archived_at: Nullable(Instant),
  created_at: Instant,
  updated_at: Instant,
})
export type JourneyRow = Static<typeof JourneyRow>

/** The fields of a journey that a caller can write. */
export type JourneyFields = Pick<JourneyRow, 'name' | 'status' | 'description' | 'tags'>

export const STEP_TYPES = Object.keys(kinds) as (keyof typeof kinds)[]
export type StepType = (typeof STEP_TYPES)[number]

/** The highest number of steps of a journey. */
export const STEPS_MAX = 200
const STEP_KEY_LENGTH_MAX = 64
const CHILDREN_MAX = 50

const Child = Exact({
  external_id: Type.String({ maxLength: STEP_KEY_LENGTH_MAX, description: 'The key of a step of the same journey.' }),
  path: Type.Optional(Line(64, { description: 'The path that leads to this step, such as `yes`.' })),
})

const type = OneOf(STEP_TYPES, { description: 'The kind of step.' })
const position = {
  x: Type.Number({ description: 'The horizontal position of the step in an editor, from left to right.' }),
  y: Type.Number({ description: 'The vertical position of the step in an editor, from top to bottom.' }),
}
const Children = Type.Array(Child, { maxItems: CHILDREN_MAX, description: 'The steps that follow.' })
const Data = Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'The members depend on the type.' })

export const StepInput = Exact({
  type,
  name: Type.Optional(Type.String({ maxLength: 255 })),
  ...position,
  data: Type.Optional(Data),
  children: Type.Optional(Children),
})
export type StepInput = Static<typeof StepInput>

const step = { type, name: Type.String(), ...position, data: Data, children: Children }

/** Steps by key. `graph.ts` checks them step by step. */
export const StepsInput = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: 'At most 200 steps by key. A key has 1 to 64 letters, digits, `_` and `-`.',
  documented: { maxProperties: STEPS_MAX, additionalProperties: componentRef('JourneyStepInput') },
})

const componentOf = (type: StepType) =>
  `${type
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}Step`

const STEP_KINDS: Record<StepType, StepKind> = kinds

const stepOfType = (kind: StepType): TSchema => {
  const { settings, description } = STEP_KINDS[kind]
  const data = Type.Optional(Type.Unsafe({ ...settings, description: 'The settings. A draft may be incomplete.' }))
  return Exact({ ...StepInput.properties, type: OneOf([kind], { description: 'The kind of step.' }), data }, { description })
}

/** The schemas of steps in the API description, one for each kind, by the names of components. */
export const stepComponents: Record<string, TSchema> = {
  JourneyStepInput: Type.Unsafe({
    description: 'A step of the kind given in `type`.',
    documented: { oneOf: STEP_TYPES.map((type) => componentRef(componentOf(type))) },
  }),
  ...Object.fromEntries(STEP_TYPES.map((type) => [componentOf(type), stepOfType(type)])),
}

/** The steps in API replies (D-JRN-2). */
export const Steps = Type.Record(Type.String(), Exact({ id: Type.Integer(), ...step, stats: StepStats, stats_at: StatsAt }))
export type Steps = Static<typeof Steps>

const StepRow = Type.Object({ external_id: Type.String(), ...step })

/** A checked step with defaults for members that were left out. */
export type Step = Static<typeof StepRow>
