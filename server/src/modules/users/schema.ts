import { type Static, Type } from 'typebox'
import { ADDRESSED } from '../../lib/channels.ts'
import type { ErasureId, ProjectId, UserId } from '../../lib/ids.ts'
import { Exact, FreeForm, IdOf, Instant, Line, Nullable, OneOf, Timestamp } from '../../lib/shapes.ts'

export const DATA_BYTES_MAX = 65_536
const BATCH_MAX = 100

/** An id that the caller’s system gave (D-F-5). */
export const Identifier = Type.String({ notBlank: true, minLength: 1, maxLength: 255, format: 'identifier' })

/** The fields of a profile that can be written. An absent field keeps its value, and null clears it (D-USER-3). */
export const profile = {
  email: Type.Optional(Nullable(Line(254, { format: 'email', description: 'An email address as in RFC 5322. It is stored unchanged.' }))),
  phone: Type.Optional(Nullable(Line(32, { format: 'phone', description: 'Preferably E.164. Other formats are normalised if possible.' }))),
  timezone: Type.Optional(Nullable(Line(50, { format: 'timezone', description: 'IANA time zone.' }))),
  locale: Type.Optional(Nullable(Line(255, { format: 'locale', description: 'BCP-47 tag.' }))),
  data: Type.Optional(FreeForm(DATA_BYTES_MAX, { description: 'Custom attributes, merged at the top level. Null removes a key.' })),
}

/** Members such as `data.address.city`, each of which sets one value inside `data` (D-F-12). */
export const profilePaths = {
  '^data\\.': {
    description: 'A value inside `data` by its path, such as `data.address.city`. The values around it are kept. Null removes it.',
  },
}

export const UserUpsert = Exact(
  {
    anonymous_id: Type.Optional(Nullable(Identifier)),
    external_id: Type.Optional(Nullable(Identifier)),
    ...profile,
  },
  {
    title: 'UserUpsert',
    patternProperties: profilePaths,
    examples: [{ external_id: 'ana', email: 'ana@example.com', locale: 'en-AU', data: { plan: 'pro' }, 'data.address.city': 'Hobart' }],
  },
)
export type UserUpsert = Static<typeof UserUpsert> & { [path: `data.${string}`]: unknown }

/** The envelope of a batch. Items are checked one by one. */
export const UserBatch = Type.Array(UserUpsert, { minItems: 1, maxItems: BATCH_MAX, itemwise: true })

export const BatchQuery = Exact({
  import: Type.Optional(
    OneOf(['true', 'false'], {
      description:
        'Whether the users come from another system. If `true`, new ones enter only journeys whose entrance has `imports`, and the users have not signed up: an address that is suppressed as `erased` stays so.',
      default: 'false',
    }),
  ),
})

const identity = { id: IdOf<UserId>(), project_id: IdOf<ProjectId>() }
const fields = {
  anonymous_id: Nullable(Type.String()),
  email: Nullable(Type.String()),
  phone: Nullable(Type.String()),
  timezone: Nullable(Type.String()),
  locale: Nullable(Type.String()),
  data: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
  has_push_device: Type.Boolean(),
}

export const Device = Exact({
  device_id: Type.String(),
  os: Nullable(Type.String()),
  os_version: Nullable(Type.String()),
  model: Nullable(Type.String()),
  app_build: Nullable(Type.String()),
  app_version: Nullable(Type.String()),
  has_token: Type.Boolean({ description: 'Whether it has a token. The token itself is never returned.' }),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Device = Static<typeof Device>

export const DeviceRow = Type.Object({
  device_id: Type.String(),
  os: Nullable(Type.String()),
  os_version: Nullable(Type.String()),
  model: Nullable(Type.String()),
  app_build: Nullable(Type.String()),
  app_version: Nullable(Type.String()),
  has_token: Type.Boolean(),
  created_at: Instant,
  updated_at: Instant,
})

const DeviceText = Type.Optional(Nullable(Line(255)))

/** ASCII, and short enough for an index: a token is unique in its project. */
const PushToken = Line(2048, {
  pattern: '^[\\t\\n\\r -~]*$',
  description: 'The push token of APNs or FCM, or a browser’s `PushSubscription` as JSON. Null removes the token.',
})

export const DeviceInput = Exact({
  device_id: Line(255, { minLength: 1, format: 'identifier' }),
  token: Type.Optional(Nullable(PushToken)),
  os: DeviceText,
  os_version: DeviceText,
  model: DeviceText,
  app_build: DeviceText,
  app_version: DeviceText,
  external_id: Type.Optional(Nullable(Identifier)),
  anonymous_id: Type.Optional(Nullable(Identifier)),
})
export type DeviceInput = Static<typeof DeviceInput>

/** A user in replies. The `external_id` of an anonymous user is its anonymous id (D-USER-2). */
export const User = Exact({ ...identity, external_id: Type.String(), ...fields, created_at: Timestamp, updated_at: Timestamp })
export type User = Static<typeof User>

export const UserWithDevices = Exact({ ...User.properties, devices: Type.Array(Device) })
export type UserWithDevices = Static<typeof UserWithDevices>

/** A user that is read by a server, with what stops messages to it. */
export const UserDetails = Exact({
  ...UserWithDevices.properties,
  suppressions: Type.Array(
    Exact({
      channel: OneOf(ADDRESSED),
      reason: Type.String({ description: 'Why the address of the user is suppressed.' }),
      stops_transactional: Type.Boolean({ description: 'Whether transactional messages are stopped too.' }),
    }),
    { description: 'The channels whose messages do not reach the user, because the user’s address is suppressed.' },
  ),
})
export type UserDetails = Static<typeof UserDetails>

/** A row of `users`. */
export const UserRow = Type.Object({
  ...identity,
  external_id: Nullable(Type.String()),
  ...fields,
  created_at: Instant,
  updated_at: Instant,
})
export type UserRow = Static<typeof UserRow>

/** What is wrong with an item of a batch. */
const ItemError = Exact({
  code: Type.String(),
  message: Type.String(),
  errors: Type.Optional(
    Type.Array(
      Exact({
        code: Type.String(),
        param: Type.Optional(Type.String({ description: 'The parameter at fault, as a path in the item, such as `email`.' })),
        message: Type.String(),
      }),
      { description: 'Every fault of the item, at most 20. Absent if there is only one.' },
    ),
  ),
})
export type ItemError = Static<typeof ItemError>

export const BatchResult = Exact(
  {
    results: Type.Array(
      Exact({
        index: Type.Integer({ description: 'Index in the request, from 0.' }),
        external_id: Type.Optional(Type.String()),
        anonymous_id: Type.Optional(Type.String()),
        user: Type.Optional(User),
        error: Type.Optional(ItemError),
      }),
    ),
    succeeded: Type.Integer(),
    failed: Type.Integer(),
  },
  { title: 'BatchResult' },
)
export type BatchResult = Static<typeof BatchResult>

export const Session = Exact({ token: Type.String(), expires_at: Timestamp })

const erasure = {
  id: IdOf<ErasureId>(),
  user_id: IdOf<UserId>({ description: 'The id that the user had.' }),
  state: OneOf(['requested', 'finished'], { description: '`requested` until the data has been removed.' }),
  removed: Type.Record(Type.String(), Type.Integer(), {
    description:
      'The number of rows removed, under the name that each kind of data has in a user’s export. Messages stay as counts, without personal data.',
  }),
}

/** The receipt of an erasure. */
export const Erasure = Exact({ ...erasure, requested_at: Timestamp, finished_at: Nullable(Timestamp) })
export type Erasure = Static<typeof Erasure>

export const ErasureRow = Type.Object({ ...erasure, requested_at: Instant, finished_at: Nullable(Instant) })
