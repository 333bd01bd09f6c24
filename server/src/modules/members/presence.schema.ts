/** Who has an object open in an editor, on the wire. */
import { type Static, Type } from 'typebox'
import type { MemberId, ProjectId } from '../../lib/ids.ts'
import { Exact, IdOf, OneOf } from '../../lib/shapes.ts'

/** What can be open in an editor. */
const EDITED = ['campaign', 'journey', 'list'] as const

export const PresenceInput = Exact({
  project_id: IdOf<ProjectId>(),
  object: OneOf(EDITED, { description: 'The kind of object.' }),
  object_id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'The id of the object.' }),
  is_here: Type.Optional(Type.Boolean({ description: 'False if the member has left the editor. Default: true.' })),
  only_if_alone: Type.Optional(
    Type.Boolean({ description: 'If true, the member opens the object only if no other member has it open. Default: false.' }),
  ),
})
export type PresenceInput = Static<typeof PresenceInput>

export const Presence = Exact({
  is_here: Type.Boolean({ description: 'Whether the member has the object open now.' }),
  others: Type.Array(
    Exact({
      member_id: IdOf<MemberId>({ description: 'The id of the member.' }),
      name: Type.String({ description: 'The name of the member.' }),
      since: Type.Unsafe<Date>({ type: 'string', format: 'date-time', description: 'When the member opened the object.' }),
    }),
    { description: 'The other members who have the object open, in the order in which they opened it.' },
  ),
})
export type Presence = Static<typeof Presence>
