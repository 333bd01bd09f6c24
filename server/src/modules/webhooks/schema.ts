import { type Static, Type } from 'typebox'
import type { EndpointId, ProjectId } from '../../lib/ids.ts'
import { Changes, Exact, IdOf, Instant, Line, Name, Nullable, OneOf, Page, Timestamp } from '../../lib/shapes.ts'
import { EVENT_TYPES } from '../webhook-events/index.ts'

declare const kind: unique symbol
export type DeliveryId = number & { readonly [kind]: 'delivery' }

const EVENT_TYPES_MAX = 100
const GRACE_PERIOD_S_MAX = 604_800
export const GRACE_PERIOD_S_DEFAULT = 86_400

const EventType = OneOf(EVENT_TYPES)
const EventTypes = Type.Array(EventType, { minItems: 1, maxItems: EVENT_TYPES_MAX, description: 'What the endpoint hears of.' })
const Url = Line(2048, { minLength: 1, format: 'https-url', description: 'HTTPS URL that signed payloads are POSTed to.' })
const Description = Type.String({ maxLength: 5000, description: 'Free text; empty is the same as none.' })
const SigningSecret = Type.String({
  minLength: 16,
  maxLength: 256,
  notBlank: true,
  format: 'no-control',
  description: 'Key of the HMAC that signs payloads. Generated when it is absent; shown in this answer only.',
})

export const EndpointInput = Exact({
  name: Name(),
  url: Url,
  event_types: EventTypes,
  description: Type.Optional(Description),
  signing_secret: Type.Optional(SigningSecret),
})
export type EndpointInput = Static<typeof EndpointInput>

export const EndpointChanges = Changes({
  name: Name(),
  url: Url,
  event_types: EventTypes,
  description: Nullable(Description),
  status: OneOf(['active', 'inactive'], { description: '`inactive` pauses the endpoint; `active` resumes it, also after a suspension.' }),
})
export type EndpointChanges = Static<typeof EndpointChanges>

export const Rotation = Exact(
  {
    signing_secret: Type.Optional(SigningSecret),
    grace_period_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: GRACE_PERIOD_S_MAX,
        description: `How long the old secret signs along. ${GRACE_PERIOD_S_DEFAULT} when it is absent.`,
      }),
    ),
  },
  { optionalBody: true },
)
export type Rotation = Static<typeof Rotation>

export const TestRequest = Exact(
  { event_type: Type.Optional(OneOf(EVENT_TYPES, { description: 'The first of the subscribed types when it is absent.' })) },
  { optionalBody: true },
)
export type TestRequest = Static<typeof TestRequest>

const Status = OneOf(['active', 'inactive', 'disabled'], {
  description: '`inactive` was paused by a user, `disabled` suspended by the system.',
})

const endpoint = {
  id: IdOf<EndpointId>(),
  project_id: IdOf<ProjectId>(),
  name: Type.String(),
  url: Type.String(),
  status: Status,
  event_types: Type.Array(EventType),
}

export const EndpointRow = Type.Object({
  ...endpoint,
  description: Nullable(Type.String()),
  disabled_reason: Nullable(Type.String()),
  created_at: Instant,
  updated_at: Instant,
})
export type EndpointRow = Static<typeof EndpointRow>

const shown = {
  ...endpoint,
  has_secret: Type.Boolean({ description: 'Is there a signing secret? Always true.' }),
  description: Type.Optional(Type.String()),
  disabled_reason: Type.Optional(Type.String({ description: 'Why the system suspended the endpoint.' })),
  created_at: Timestamp,
  updated_at: Timestamp,
}

/** An endpoint as it is read. */
export const Endpoint = Exact(shown)
export type Endpoint = Static<typeof Endpoint>

/** An endpoint in the answer to a create or a rotation. */
export const EndpointWithSecret = Exact({ ...shown, signing_secret: Type.String({ description: 'In plain text, here and nowhere else.' }) })
export type EndpointWithSecret = Static<typeof EndpointWithSecret>

export const Endpoints = Page(Endpoint)

const delivery = {
  id: IdOf<DeliveryId>(),
  event_id: Type.String(),
  event_type: EventType,
  status: OneOf(['pending', 'succeeded', 'failed', 'cancelled']),
  attempts: Type.Integer({ minimum: 0 }),
  last_status_code: Nullable(Type.Integer()),
  last_error: Nullable(Type.String()),
}

export const DeliveryRow = Type.Object({ ...delivery, next_attempt_at: Nullable(Instant), created_at: Instant })
export type DeliveryRow = Static<typeof DeliveryRow>

/** One event on its way to one endpoint. */
export const Delivery = Exact({ ...delivery, next_attempt_at: Nullable(Timestamp), created_at: Timestamp })

export const Deliveries = Page(Delivery)

export const Queued = Exact({ delivery_id: IdOf<DeliveryId>() })
export type Queued = Static<typeof Queued>
