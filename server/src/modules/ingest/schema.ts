import { type Static, Type } from 'typebox'
import { Exact, FreeForm, Nullable } from '../../lib/shapes.ts'
import { Identifier, profile, profilePaths } from '../users/index.ts'

const EVENT_DATA_BYTES_MAX = 32_768
const BATCH_MAX = 100

export const EventInput = Exact(
  {
    name: Type.String({ notBlank: true, minLength: 1, maxLength: 255, description: 'A stable, machine-readable name.', logged: true }),
    anonymous_id: Type.Optional(Nullable(Identifier)),
    external_id: Type.Optional(Nullable(Identifier)),
    data: Type.Optional(FreeForm(EVENT_DATA_BYTES_MAX, { description: 'Attributes of the event.' })),
    user: Type.Optional(
      Exact(profile, { patternProperties: profilePaths, description: 'Profile fields applied before the event is evaluated.' }),
    ),
    created_at: Type.Optional(Type.String({ format: 'time', description: 'The time of the event, ISO 8601. Default: now.' })),
    event_id: Type.Optional(
      Type.String({
        notBlank: true,
        minLength: 1,
        maxLength: 255,
        description: 'An id that identifies the event. Another event with the same id within 30 days is accepted but ignored.',
      }),
    ),
  },
  { title: 'EventInput', examples: [{ name: 'order_placed', external_id: 'ana', data: { total: 99.9, currency: 'AUD' } }] },
)
export type EventInput = Static<typeof EventInput>

/** The envelope. Items are checked by `checkEvent`, which reports the index of each fault. */
export const EventBatch = Type.Array(EventInput, { minItems: 1, maxItems: BATCH_MAX, itemwise: true })
