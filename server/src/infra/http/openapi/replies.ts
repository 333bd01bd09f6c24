/** Replies: the schema of errors, their statuses, and the codes that an operation can reply with (D-ERR-1, D-ERR-2). */
import { ERROR_STATUS, type ErrorCode } from '../../../lib/errors.ts'
import { isIdempotent } from '../idempotency.ts'
import type { Route } from '../route.ts'
import { REASONS } from './errors.ts'
import { publicSchema } from './schemas.ts'
import type { Header, JsonSchema, Ref, Reply } from './types.ts'

const text: JsonSchema = { type: 'string' }
const code: JsonSchema = { type: 'string', enum: Object.keys(ERROR_STATUS) }
const message: JsonSchema = { type: 'string', description: 'An explanation for developers. It may change.' }
const param: JsonSchema = { type: 'string', description: 'The parameter at fault, such as `name`, `[3].email` or `body`.' }

/** `#/components/schemas/Error`. */
export const ERROR_SCHEMA: JsonSchema = {
  type: 'object',
  required: ['status', 'code', 'message', 'error', 'request_id'],
  properties: {
    status: { const: 'error' },
    code,
    message,
    error: {
      type: 'object',
      required: ['code', 'message', 'doc_url'],
      properties: {
        code,
        message,
        param: { ...param, description: 'The parameter at fault, when there is exactly one.' },
        errors: {
          type: 'array',
          description: 'Every fault of the request.',
          items: { type: 'object', required: ['code', 'message'], properties: { code, param, message } },
        },
        reason: { type: 'string', enum: Object.keys(REASONS), description: 'A more precise reason for programs.' },
        doc_url: { ...text, description: 'A page that explains the code.' },
      },
    },
    request_id: { ...text, description: 'The same as the header `X-Request-Id`.' },
  },
}

/** `#/components/headers`. */
export const HEADERS: Record<string, Header> = {
  RequestId: { description: 'Identifies this request in the log of the server.', schema: text },
  Location: { description: 'The path of the new resource.', schema: text },
  IdempotentReplayed: {
    description: 'This is the stored reply to an earlier request, whose id is in `Original-Request`.',
    schema: { const: 'true' },
  },
  RetryAfter: { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer', minimum: 1 } },
  Authenticate: { description: 'The challenge of RFC 6750.', schema: text },
}

const header = (name: keyof typeof HEADERS): Ref => ({ $ref: `#/components/headers/${name}` })

const failure = (description: string, headers: Record<string, Ref> = {}): Reply => ({
  description,
  headers: { 'X-Request-Id': header('RequestId'), ...headers },
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
})

/** `#/components/responses` by name, with their status. */
const FAILURES = {
  BadRequest: { status: 400, reply: failure('A parameter is missing, empty, malformed or unknown, or the version is not supported.') },
  Unauthenticated: {
    status: 401,
    reply: failure('The key or the user token is missing or not valid.', { 'WWW-Authenticate': header('Authenticate') }),
  },
  PermissionDenied: { status: 403, reply: failure('The key is of the wrong kind, or its role is too low.') },
  Missing: { status: 404, reply: failure('The resource does not exist, or this key cannot see it.') },
  Conflict: {
    status: 409,
    reply: failure('The resource exists already, or the `Idempotency-Key` belongs to another request.', {
      'Retry-After': header('RetryAfter'),
    }),
  },
  TooSlow: { status: 408, reply: failure('The body took too long.') },
  TooLarge: { status: 413, reply: failure('The body is too large.') },
  MediaType: { status: 415, reply: failure('The media type of the body is not supported.') },
  Invalid: { status: 422, reply: failure('The request breaks a rule, or has several different faults.') },
  TooMany: { status: 429, reply: failure('Too many requests, or a quota is exceeded.', { 'Retry-After': header('RetryAfter') }) },
  Internal: { status: 500, reply: failure('Something went wrong on the server.') },
  Unavailable: { status: 503, reply: failure('The server is temporarily unavailable.', { 'Retry-After': header('RetryAfter') }) },
}

export const SHARED_RESPONSES: Record<string, Reply> = Object.fromEntries(
  Object.entries(FAILURES).map(([name, { reply }]) => [name, reply]),
)

const isExt = ({ path }: Route) => path.startsWith('/api/ext/')
const bodyOf = ({ body, form }: Route) => body ?? form

/** The codes that a route can reply with, in the order of the catalogue. */
export function errorsOf(route: Route): ErrorCode[] {
  const body = bodyOf(route)
  const writes = isIdempotent(route.method) && !isExt(route)
  const can: Partial<Record<ErrorCode, boolean>> = {
    resource_missing: Object.keys(route.params ?? {}).length > 0,
    resource_already_exists: route.location !== undefined || (body !== undefined && (route.method === 'PATCH' || route.method === 'PUT')),
    parameter_missing:
      [body, route.query].some((schema) => schema && requiresSomething(publicSchema(schema))) ||
      (route.body !== undefined && !('optionalBody' in route.body)) ||
      route.stream !== undefined,
    parameter_invalid_empty: writes || body !== undefined,
    parameter_invalid_format: true,
    parameter_unknown: true,
    validation_failed: body !== undefined || route.list !== undefined || route.query !== undefined || writes,
    authentication_required: true,
    permission_denied: true,
    idempotency_key_mismatch: writes,
    rate_limited: true,
    version_unsupported: true,
    version_required: true,
    quota_exceeded: isExt(route) || route.location !== undefined,
    internal_error: true,
  }
  return (Object.keys(ERROR_STATUS) as ErrorCode[]).filter((code) => can[code])
}

function requiresSomething({ required = [], properties = {}, items }: JsonSchema): boolean {
  return required.length > 0 || (items !== undefined && requiresSomething(items)) || Object.values(properties).some(requiresSomething)
}

const SUCCESS = { 200: 'Done.', 201: 'Created.', 202: 'Accepted. It takes effect shortly.', 204: 'Done. The reply has no body.' }

/** Every reply of a route by status. `schema` is that of the body, with references. */
export function repliesOf(route: Route, schema: JsonSchema | undefined, example: unknown): Record<string, Reply | Ref> {
  const status = route.status ?? 200
  const media = String(schema?.contentMediaType ?? 'application/json')
  const success: Reply = {
    description: SUCCESS[status],
    headers: {
      'X-Request-Id': header('RequestId'),
      ...(route.location && { Location: header('Location') }),
      ...(isIdempotent(route.method) && !isExt(route) && { 'Idempotent-Replayed': header('IdempotentReplayed') }),
    },
    ...(schema && status !== 204 && { content: { [media]: { schema, ...(example !== undefined && { example }) } } }),
  }
  const statuses = new Set<number>(errorsOf(route).map((code) => ERROR_STATUS[code]))
  if (bodyOf(route) ?? route.stream) statuses.add(413).add(415)
  if (bodyOf(route)) statuses.add(408)
  const failures = Object.entries(FAILURES).filter(([, { status }]) => statuses.has(status) || status === 503)
  return {
    [status]: success,
    ...Object.fromEntries(failures.map(([name, { status }]) => [status, { $ref: `#/components/responses/${name}` }])),
  }
}
