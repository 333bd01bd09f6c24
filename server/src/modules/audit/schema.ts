import { type Static, Type } from 'typebox'
import { WAYS } from '../../infra/runtime/ctx.ts'
import type { ProjectId } from '../../lib/ids.ts'
import { Exact, IdOf, Instant, Line, Nullable, OneOf, Timestamp } from '../../lib/shapes.ts'

const ACTORS = ['key', 'member', 'system'] as const
const NAME_LENGTH_MAX = 255
const TIME_LENGTH_MAX = 40

const IdText = (description: string) => Type.String({ pattern: '^[0-9]{1,15}$', problem: 'is not an id', description })

/** What entries can be filtered by. */
export const AuditQuery = Exact({
  action: Type.Optional(Line(NAME_LENGTH_MAX, { description: 'Only this action, such as `campaign.updated`.' })),
  actor_type: Type.Optional(OneOf(ACTORS, { description: 'Only changes made by this kind of actor.' })),
  actor_id: Type.Optional(IdText('Only changes made by the key or the member with this id. Give `actor_type` too.')),
  object_type: Type.Optional(Line(NAME_LENGTH_MAX, { description: 'Only this kind of object, such as `campaign`.' })),
  object_id: Type.Optional(Line(NAME_LENGTH_MAX, { description: 'Only the object with this id. Give `object_type` too.' })),
  via: Type.Optional(OneOf(WAYS, { description: 'Only changes made through this interface.' })),
  since: Type.Optional(Line(TIME_LENGTH_MAX, { format: 'time', description: 'Only entries from this time or later.' })),
  until: Type.Optional(Line(TIME_LENGTH_MAX, { format: 'time', description: 'Only entries before this time.' })),
})
export type AuditQuery = Static<typeof AuditQuery>

const State = (description: string) =>
  Nullable(Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description }))

const columns = {
  id: IdOf<number>(),
  project_id: Nullable(IdOf<ProjectId>({ description: 'The project; null for the organisation.' })),
  position: Type.Integer({ description: 'The position in the chain of the project, from 1, without gaps.' }),
  action: Type.String({ description: 'The action: the kind of object and the verb, such as `campaign.updated`.' }),
  via: OneOf(WAYS, { description: 'The interface: a request, the console, the command line, or the system itself.' }),
  request_id: Nullable(Type.String({ description: 'The `X-Request-Id` of the request.' })),
  before: State('The members that changed, with their former values; all of them when the object was deleted. Null when it was created.'),
  after: State('The members that changed, with their new values; all of them when the object was created. Null when it was deleted.'),
  details: State('The request, for actions that change no members of the object.'),
  previous_hash: Type.String({ description: 'The `hash` of the previous entry; empty for the first entry.' }),
  hash: Type.String({
    description: 'SHA-256 of `previous_hash`, a line feed, and the JSON of the entry without both hashes and the id, with sorted members.',
  }),
}

export const AuditRow = Type.Object({
  ...columns,
  object_type: Type.String(),
  object_id: Nullable(Type.String()),
  object_name: Nullable(Type.String()),
  actor_type: OneOf(ACTORS),
  actor_id: Nullable(Type.Integer()),
  actor_name: Nullable(Type.String()),
  created_at: Instant,
})
export type AuditRow = Static<typeof AuditRow>

/** An entry of the audit log in replies. */
export const AuditEntry = Exact(
  {
    ...columns,
    object: Exact({
      type: Type.String({ description: 'The kind of object.' }),
      id: Nullable(Type.String({ description: 'The object’s id, as text, because some kinds of object have a name instead of a number.' })),
      name: Nullable(Type.String({ description: 'The name of the object at that time.' })),
    }),
    actor: Exact({
      type: OneOf(ACTORS, { description: 'An API key, a member of the organisation, or the system.' }),
      id: Nullable(Type.Integer({ description: 'The id of the key or of the member.' })),
      name: Nullable(Type.String({ description: 'The name of the key or of the member at that time.' })),
    }),
    created_at: Timestamp,
  },
  { title: 'AuditEntry' },
)
export type AuditEntry = Static<typeof AuditEntry>

export const AuditCheck = Exact(
  {
    is_intact: Type.Boolean({ description: 'Whether all entries are as they were written.' }),
    entries: Type.Integer({ description: 'How many entries were checked.' }),
    first_wrong: Nullable(
      Type.Integer({ description: 'The `position` of the first entry that was changed, or whose predecessor is missing.' }),
    ),
  },
  { title: 'AuditCheck' },
)
export type AuditCheck = Static<typeof AuditCheck>

export const ChainRow = Type.Object({ position: Type.Integer(), hash: Type.String() })

/** The position of the last entry of a chain, and of the last one that was deleted by age; 0 if none was. */
export const ChainEnds = Type.Object({ position: Type.Integer(), purged_position: Type.Integer() })
