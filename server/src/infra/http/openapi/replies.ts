/** Replies: the schema of errors, their statuses, and the codes that an operation can reply with (D-ERR-1, D-ERR-2). */
import { ApiError, ERROR_STATUS, type ErrorCode } from '../../../lib/errors.ts'
import { LANGUAGES } from '../../../lib/languages.ts'
import { readsBody } from '../body.ts'
import { errorReply } from '../error-reply.ts'
import { isIdempotent } from '../idempotency.ts'
import type { Route } from '../route.ts'
import { ERRORS, REASONS } from './errors.ts'
import { documentedSchema } from './schemas.ts'
import { LOCAL_SERVER } from './servers.ts'
import type { Header, JsonSchema, Media, Ref, Reply } from './types.ts'

const text: JsonSchema = { type: 'string' }
const code: JsonSchema = { type: 'string', enum: Object.keys(ERROR_STATUS), description: 'The code of the error.' }
const message: JsonSchema = { type: 'string', description: 'An explanation for developers. It may change.' }
const param: JsonSchema = { type: 'string', description: 'The parameter at fault, such as `name`, `[3].email` or `body`.' }

/** `#/components/schemas/Error`. */
export const ERROR_SCHEMA: JsonSchema = {
  type: 'object',
  required: ['status', 'code', 'message', 'error', 'request_id'],
  properties: {
    status: { const: 'error', description: 'Always `error`.' },
    code,
    message,
    error: {
      type: 'object',
      description: 'The error, with all of its details.',
      required: ['code', 'message', 'doc_url'],
      properties: {
        code,
        message,
        param: { ...param, description: 'The parameter at fault, when there is exactly one.' },
        errors: {
          type: 'array',
          description: 'Every fault of the request, up to 100. Present if `code` is `validation_failed` or begins with `parameter_`.',
          items: { type: 'object', required: ['code', 'message'], properties: { code, param, message } },
        },
        reason: { type: 'string', enum: Object.keys(REASONS), description: 'A more precise reason, for use by programs.' },
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
  ETag: { description: 'The version of the object, for `If-Match`.', schema: text },
  ContentLanguage: { description: 'The language of labels, descriptions and sentences.', schema: { type: 'string', enum: [...LANGUAGES] } },
  RetryAfter: { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer', minimum: 1 } },
  Authenticate: { description: 'The challenge of RFC 6750.', schema: text },
}

const header = (name: keyof typeof HEADERS): Ref => ({ $ref: `#/components/headers/${name}` })

const REQUEST_ID = 'req_01KAFW6V7Q3M8Z5N4P2R9S0T1X'

const failure = (description: string, example: ApiError, headers: Record<string, Ref> = {}): Reply => ({
  description,
  headers: { 'X-Request-Id': header('RequestId'), ...headers },
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/Error' },
      example: errorReply(example, REQUEST_ID, LOCAL_SERVER),
    },
  },
})

const tooLarge = new ApiError('validation_failed', 'The body may have at most 1048576 bytes.', {
  status: 413,
  param: 'body',
  reason: 'body_too_large',
})
const tooSlow = new ApiError('validation_failed', 'The body must arrive within 30 seconds.', {
  status: 408,
  param: 'body',
  reason: 'body_too_slow',
})
const wrongType = new ApiError('parameter_invalid_format', 'Send the body as `application/json` in UTF-8.', {
  status: 415,
  param: 'Content-Type',
  reason: 'media_type',
})
const changed = new ApiError(
  'validation_failed',
  'Nothing was saved. The object has changed since you read it. Read it again, and repeat your change.',
  {
    status: 412,
    param: 'If-Match',
    reason: 'changed',
  },
)
const away = new ApiError('internal_error', 'The server is temporarily unavailable. Try again in a few seconds.', { status: 503 })

/** `#/components/responses` by name, with their status. */
const FAILURES = {
  BadRequest: {
    status: 400,
    reply: failure(
      'A parameter is missing, empty, malformed or unknown, or the version is not supported.',
      ERRORS.parameter_missing.example,
    ),
  },
  Unauthenticated: {
    status: 401,
    reply: failure('The key or the user token is missing or not valid.', ERRORS.authentication_required.example, {
      'WWW-Authenticate': header('Authenticate'),
    }),
  },
  PermissionDenied: {
    status: 403,
    reply: failure('The key is of the wrong kind, or its role is too low.', ERRORS.permission_denied.example),
  },
  Missing: { status: 404, reply: failure('The resource does not exist, or this key cannot see it.', ERRORS.resource_missing.example) },
  Conflict: {
    status: 409,
    reply: failure(
      'The resource already exists, the `Idempotency-Key` belongs to another request, or the first request with it is still running.',
      ERRORS.resource_already_exists.example,
      {
        'Retry-After': header('RetryAfter'),
      },
    ),
  },
  TooSlow: { status: 408, reply: failure('The body arrived too slowly.', tooSlow) },
  Changed: {
    status: 412,
    reply: failure(
      'The object is not the version that `If-Match` names, or it exists although the request has `If-None-Match: *`.',
      changed,
      { ETag: header('ETag') },
    ),
  },
  TooLarge: { status: 413, reply: failure('The body is too large.', tooLarge) },
  MediaType: { status: 415, reply: failure('The media type of the body is not supported.', wrongType) },
  Invalid: { status: 422, reply: failure('The request breaks a rule, or has several different faults.', ERRORS.validation_failed.example) },
  TooMany: {
    status: 429,
    reply: failure('Too many requests, or a quota is exceeded.', ERRORS.rate_limited.example, { 'Retry-After': header('RetryAfter') }),
  },
  Internal: { status: 500, reply: failure('Something went wrong on the server.', ERRORS.internal_error.example) },
  Unavailable: { status: 503, reply: failure('The server is temporarily unavailable.', away, { 'Retry-After': header('RetryAfter') }) },
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
    resource_already_exists:
      (route.location !== undefined && route.status !== 204) ||
      (body !== undefined && (route.method === 'PATCH' || route.method === 'PUT')),
    parameter_missing:
      [body, route.query].some((schema) => schema && requiresSomething(documentedSchema(schema))) ||
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
    quota_exceeded: isExt(route) || (route.location !== undefined && route.status !== 204),
    internal_error: true,
  }
  return (Object.keys(ERROR_STATUS) as ErrorCode[]).filter((code) => can[code] || route.errors?.includes(code))
}

function requiresSomething({ required = [], properties = {}, items }: JsonSchema): boolean {
  return required.length > 0 || (items !== undefined && requiresSomething(items)) || Object.values(properties).some(requiresSomething)
}

const SUCCESS = { 200: 'Done.', 201: 'Created.', 202: 'Accepted. It takes effect shortly.', 204: 'Done. The reply has no body.' }

/** Every reply of a route by status. `body` is that of a success. */
export function repliesOf(route: Route, body: Media | undefined): Record<string, Reply | Ref> {
  const status = route.status ?? 200
  const media = String(body?.schema.contentMediaType ?? 'application/json')
  const success: Reply = {
    description: SUCCESS[status],
    headers: {
      'X-Request-Id': header('RequestId'),
      ...(route.location && { Location: header('Location') }),
      ...(route.versioned?.of && status !== 204 && { ETag: header('ETag') }),
      ...(route.translated && { 'Content-Language': header('ContentLanguage') }),
      ...(isIdempotent(route.method) && !isExt(route) && { 'Idempotent-Replayed': header('IdempotentReplayed') }),
    },
    ...(body && status !== 204 && { content: { [media]: body } }),
  }
  const statuses = new Set<number>(errorsOf(route).map((code) => ERROR_STATUS[code]))
  if (readsBody(route)) statuses.add(413).add(415)
  if (readsBody(route) && !route.stream) statuses.add(408)
  if (route.versioned && route.method !== 'GET') statuses.add(412)
  const failures = Object.entries(FAILURES).filter(([, { status }]) => statuses.has(status) || status === 503)
  return {
    [status]: success,
    ...Object.fromEntries(failures.map(([name, { status }]) => [status, { $ref: `#/components/responses/${name}` }])),
  }
}
