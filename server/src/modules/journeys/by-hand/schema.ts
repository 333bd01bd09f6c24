/** Requests that move single users, on the wire. */
import { type Static, Type } from 'typebox'
import { Exact, FreeForm, Line } from '../../../lib/shapes.ts'
import { duration } from '../../rules/index.ts'
import { Identifier } from '../../users/index.ts'

const DATA_BYTES_MAX = 32_768
const KEY_LENGTH_MAX = 200
const STEP_KEY_LENGTH_MAX = 64

const StepKey = (description: string) => Line(STEP_KEY_LENGTH_MAX, { description })

export const EntranceInput = Exact(
  {
    external_id: Type.Optional(Identifier),
    anonymous_id: Type.Optional(Identifier),
    entrance: Type.Optional(
      StepKey('The key of the entrance. Default: the first one with the trigger `api`, or else the first one with the trigger `none`.'),
    ),
    data: Type.Optional(FreeForm(DATA_BYTES_MAX, { description: 'Data that steps can read as the data of the entry event.' })),
    key: Type.Optional(
      Type.String({
        notBlank: true,
        minLength: 1,
        maxLength: KEY_LENGTH_MAX,
        format: 'identifier',
        description: 'The entry key, such as the id of a cart. If a request is repeated with the same key, the user enters only once.',
      }),
    ),
  },
  { examples: [{ external_id: 'ana', data: { total: 89.9 }, key: 'cart-7731' }] },
)
export type EntranceInput = Static<typeof EntranceInput>

const EntranceId = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'The id of the entrance. Default: all entrances of the user.',
})

export const Entered = Exact(
  { entrance_id: Type.Integer({ description: 'The id that the entrance will have if the user enters.' }) },
  { title: 'JourneyEntrance' },
)
export const Concerned = Exact(
  { entrance_ids: Type.Array(Type.Integer(), { description: 'The ids of the entrances that the request applies to.' }) },
  { title: 'JourneyEntrances' },
)
export type Concerned = Static<typeof Concerned>

export const MoveInput = Exact({
  to: StepKey('The key of the step, in the version that the user is on.'),
  entrance_id: Type.Optional(EntranceId),
})
export type MoveInput = Static<typeof MoveInput>

export const OptionalEntrance = Exact({ entrance_id: Type.Optional(EntranceId) }, { optionalBody: true })

export const EntranceQuery = Exact({
  entrance_id: Type.Optional(
    Type.String({ pattern: '^[0-9]{1,16}$', description: 'The id of the entrance. Default: all entrances of the user.' }),
  ),
})

export const DrainInput = Exact(
  { within: Type.Optional(duration('Time, such as `3d`, after which users who are still inside exit.')) },
  { optionalBody: true },
)
