import { type Static, Type } from 'typebox'
import type { JourneyId, ProjectId } from '../../lib/ids.ts'
import { Changes, Exact, IdOf, Instant, Line, Name, Nullable, OneOf, Tags, Timestamp } from '../../lib/shapes.ts'
import * as kinds from './steps/index.ts'

const Status = OneOf(['draft', 'live', 'off'], {
  description: '`draft` is work in progress, `live` lets people in, `off` lets nobody in. Anything but `draft` takes the role `publisher`.',
})
const Description = Type.String({ maxLength: 5000, description: 'Empty means none.' })

export const JourneyInput = Exact({
  name: Name(),
  status: Type.Optional(Status),
  description: Type.Optional(Description),
  tags: Type.Optional(Tags),
})
export type JourneyInput = Static<typeof JourneyInput>

export const JourneyChanges = Changes({ name: Name(), status: Status, description: Nullable(Description), tags: Tags })
export type JourneyChanges = Static<typeof JourneyChanges>

const columns = {
  id: IdOf<JourneyId>(),
  project_id: IdOf<ProjectId>(),
  name: Type.String(),
  status: Status,
  tags: Type.Array(Type.String()),
}

const Stats = Exact({}, { description: 'Empty until people have entered.' })

/** A journey as it is read (D-JRN-1). */
export const Journey = Exact({
  ...columns,
  description: Type.Optional(Type.String()),
  stats: Stats,
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Journey = Static<typeof Journey>

export const JourneyRow = Type.Object({ ...columns, description: Nullable(Type.String()), created_at: Instant, updated_at: Instant })
export type JourneyRow = Static<typeof JourneyRow>

/** What of a journey can be written. */
export type JourneyFields = Pick<JourneyRow, 'name' | 'status' | 'description' | 'tags'>

export const STEP_TYPES = Object.keys(kinds) as (keyof typeof kinds)[]
export type StepType = (typeof STEP_TYPES)[number]

const STEP_KEY_LENGTH_MAX = 64
const CHILDREN_MAX = 50

const Child = Exact({
  external_id: Type.String({ maxLength: STEP_KEY_LENGTH_MAX, description: 'Key of a step in the same map.' }),
  path: Type.Optional(Line(64, { description: 'Which way out leads here, such as `yes`.' })),
})

const type = OneOf(STEP_TYPES)
const position = { x: Type.Number(), y: Type.Number() }
const Data = Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'The members depend on the type.' })

export const StepInput = Exact({
  type,
  name: Type.Optional(Type.String({ maxLength: 255 })),
  ...position,
  data: Type.Optional(Data),
  children: Type.Optional(Type.Array(Child, { maxItems: CHILDREN_MAX })),
})
export type StepInput = Static<typeof StepInput>

const step = { type, name: Type.String(), ...position, data: Data, children: Type.Array(Child) }

/** Steps by key; the key is 1 to 64 letters, digits, `_` and `-`. What is wrong with them is said step by step. */
export const StepsInput = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: 'Steps by key, at most 200; a key is 1 to 64 letters, digits, `_` and `-`.',
})

/** The graph as it is read (D-JRN-2). */
export const Steps = Type.Record(Type.String(), Exact({ id: Type.Integer(), ...step, stats: Stats }))
export type Steps = Static<typeof Steps>

export const StepRow = Type.Object({ id: Type.Integer(), external_id: Type.String(), ...step })
export type StepRow = Static<typeof StepRow>

/** A step that was checked, with what was left out. */
export type Step = Omit<StepRow, 'id'>
