import { type Static, Type } from 'typebox'
import { WAYS } from '../../infra/runtime/ctx.ts'
import { Exact, IdOf, Instant, Line, Nullable, OneOf, Timestamp } from '../../lib/shapes.ts'

const ACTORS = ['key', 'member', 'system'] as const
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const RESULTS = ['2xx', '4xx', '5xx'] as const
const REQUEST_ID_LENGTH_MAX = 64

/** What requests can be filtered by. */
export const RequestQuery = Exact({
  request_id: Type.Optional(Line(REQUEST_ID_LENGTH_MAX, { description: 'Only the request with this `X-Request-Id`.' })),
  method: Type.Optional(OneOf(METHODS, { description: 'Only requests with this method.' })),
  status: Type.Optional(OneOf(RESULTS, { description: 'Only requests whose reply has a status of this class.' })),
  actor_type: Type.Optional(OneOf(ACTORS, { description: 'Only requests made by this kind of actor.' })),
  actor_id: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,15}$',
      problem: 'is not an id',
      description: 'Only requests of the key or the member with this id. Give `actor_type` too.',
    }),
  ),
  is_replay: Type.Optional(
    OneOf(['true', 'false'], { description: 'Whether the reply was that of an earlier request with the same `Idempotency-Key`.' }),
  ),
})
export type RequestQuery = Static<typeof RequestQuery>

const Kept = (description: string) => Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description })

const columns = {
  id: IdOf<number>(),
  request_id: Type.String({ description: 'The `X-Request-Id` of the reply.' }),
  method: OneOf(METHODS),
  route: Type.String({ description: 'The path as in the API reference, such as `/api/client/lists/{listId}`.' }),
  params: Kept('The path parameters that are ids assigned by this server.'),
  query: Kept('The query parameters, redacted.'),
  body: Type.Unsafe<unknown>({ description: 'The redacted body; null if there was none.' }),
  status: Type.Integer({ description: 'The status of the reply.' }),
  code: Nullable(Type.String({ description: 'The error code; null if the request succeeded.' })),
  param: Nullable(Type.String({ description: 'The parameter that the error is about.' })),
  elapsed_ms: Type.Integer({ description: 'Milliseconds from the arrival to the reply.' }),
  via: OneOf(WAYS, { description: 'The interface: a request, the console or the command line.' }),
  original_request: Nullable(
    Type.String({ description: 'The `request_id` of the request whose reply was replayed for its `Idempotency-Key`; null if it was not.' }),
  ),
  left_out: Type.Integer({
    description: 'The number of earlier requests of the project that the server process did not keep, because there were too many.',
  }),
}

export const RequestRow = Type.Object({
  ...columns,
  actor_type: OneOf(ACTORS),
  actor_id: Nullable(Type.Integer()),
  actor_name: Nullable(Type.String()),
  created_at: Instant,
})
export type RequestRow = Static<typeof RequestRow>

/** A request of the API log in replies. */
export const LoggedRequest = Exact(
  {
    ...columns,
    actor: Exact({
      type: OneOf(ACTORS, { description: 'An API key, or a member of the organisation.' }),
      id: Nullable(Type.Integer({ description: 'The id of the key or of the member.' })),
      name: Nullable(Type.String({ description: 'The name of the key or of the member at that time.' })),
    }),
    created_at: Timestamp,
  },
  { title: 'LoggedRequest' },
)
export type LoggedRequest = Static<typeof LoggedRequest>
