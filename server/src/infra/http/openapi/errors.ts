/** The error catalogue in words: what each code means, what to do about it, and whether asking again can help (D-ERR-2). */

import { unauthenticated } from '../../../lib/credentials.ts'
import { ApiError, type ErrorCode, type ErrorReason, fault } from '../../../lib/errors.ts'

export type ErrorEntry = {
  means: string
  todo: string
  /** Can the very same request succeed later? */
  retry: string
  /** One that the server could throw. */
  example: ApiError
}

const NO_RETRY = 'No. The same request gets the same answer.'

export const ERRORS: Record<ErrorCode, ErrorEntry> = {
  resource_missing: {
    means:
      'There is nothing at this address, or the identifier in the path names nothing that this key can see. Something that was archived, and something of another project, look the same as something that never was.',
    todo: 'Check the identifier and the project that the key belongs to. With status 405 the path is right and the method is not: the `Allow` header lists the methods.',
    retry: 'No, unless what you ask for is about to be made.',
    example: new ApiError('resource_missing', 'No user with that identifier exists in this project.'),
  },
  resource_already_exists: {
    means: 'Something else already has what must be unique.',
    todo: 'Use the one that exists, or choose another value.',
    retry: NO_RETRY,
    example: new ApiError('resource_already_exists', 'A subscription type with this name and channel already exists.'),
  },
  parameter_missing: {
    means: 'A required parameter, or the whole body, is not there.',
    todo: 'Send the parameter that `param` names.',
    retry: NO_RETRY,
    example: fault('parameter_missing', 'name', 'The required parameter `name` is missing.'),
  },
  parameter_invalid_empty: {
    means: 'A parameter is there but empty, or only white space, where a value is needed.',
    todo: 'Give it a value, or leave it out where it is optional.',
    retry: NO_RETRY,
    example: fault('parameter_invalid_empty', 'event_types', 'The parameter `event_types` must contain at least one value.'),
  },
  parameter_invalid_format: {
    means:
      'A value has the wrong type or the wrong form: a number where text belongs, null where it is not allowed, a word that is not on the list, a malformed address, JSON that cannot be read. With status 415 the media type of the body is wrong.',
    todo: 'Correct the value that `param` names; the message says which form it takes.',
    retry: NO_RETRY,
    example: fault('parameter_invalid_format', 'url', 'The value of `url` must be a URL that starts with `https://`.'),
  },
  parameter_unknown: {
    means:
      'The body, the query or the form has a parameter that this operation does not know. Nothing is ignored in silence, so that a typing error cannot lose data.',
    todo: 'Look for a typing error. Leave out read-only members such as `id` and `created_at` when you send back what you have read.',
    retry: NO_RETRY,
    example: fault('parameter_unknown', 'emial', 'Unrecognised parameter `emial`.'),
  },
  validation_failed: {
    means:
      'The request is well-formed and breaks a rule: a length, a range, a count, a relation between fields, or the state that the resource is in. Several faults with different codes also come under this one. With status 413 the body is too large.',
    todo: 'Read `error.errors`: it lists every fault with its parameter, so that all can be put right at once.',
    retry: 'No, unless the rule is about a state that changes.',
    example: fault('validation_failed', 'body', 'The parameter `body` may have at most 100 items.'),
  },
  authentication_required: {
    means:
      'The key or the user token is missing, malformed, expired, archived or unknown. Which of these it was is not told for a key that looks right.',
    todo: 'Send `Authorization: Bearer <key>`. For a user token, mint a new one; `reason` says which of the two was refused.',
    retry: NO_RETRY,
    example: unauthenticated('key_missing'),
  },
  permission_denied: {
    means: 'We know who you are, and this key may not do this: it is of the wrong kind, or its role is too low.',
    todo: 'Use a key of the kind and role that the operation asks for; the reference names both.',
    retry: NO_RETRY,
    example: new ApiError('permission_denied', 'This key’s role does not permit this operation.', { reason: 'role' }),
  },
  idempotency_key_mismatch: {
    means: 'The `Idempotency-Key` was first used with a different request, or the first request with it is still running.',
    todo: 'Use a new key for a new request. With the reason `in_progress`, wait for `Retry-After` and send the same request again.',
    retry: 'With the reason `in_progress`, yes. With `different_request`, no.',
    example: new ApiError('idempotency_key_mismatch', 'This Idempotency-Key was first used with a different request.', {
      reason: 'different_request',
    }),
  },
  rate_limited: {
    means: 'Too many requests in a short time.',
    todo: 'Wait for the seconds in `Retry-After`. The `RateLimit` header of every answer says how much is left.',
    retry: 'Yes, after `Retry-After`.',
    example: new ApiError('rate_limited', 'Too many requests. Retry after 3 seconds.'),
  },
  version_unsupported: {
    means: 'The `Service-Version` header names a version that is not served.',
    todo: 'Use one of the versions in the message, or leave the header out.',
    retry: NO_RETRY,
    example: new ApiError('version_unsupported', 'Version `2019-01-01` is not supported. Use `2026-11-20`.', { param: 'Service-Version' }),
  },
  version_required: {
    means: 'The `Service-Version` header is empty, or absent on a server that insists on it.',
    todo: 'Send the version that your code was written for.',
    retry: NO_RETRY,
    example: new ApiError('version_required', 'Send a Service-Version header such as `2026-11-20`.', { param: 'Service-Version' }),
  },
  webhook_signature_invalid: {
    means: 'A signed report from a provider could not be verified.',
    todo: 'Check the signing secret that the provider uses.',
    retry: NO_RETRY,
    example: new ApiError('webhook_signature_invalid', 'The webhook signature could not be verified.'),
  },
  quota_exceeded: {
    means: 'An allowance is used up: so many of a resource, or so many calls in a month.',
    todo: 'Remove what is not needed, or ask the operator for a larger allowance.',
    retry: 'When there is a `Retry-After`, yes, after it: the allowance renews. Otherwise no.',
    example: new ApiError('quota_exceeded', 'A project may have at most 200 live keys. Archive one first.'),
  },
  internal_error: {
    means: 'Something went wrong on the server. With status 503 it is not available for the moment.',
    todo: 'Try again with the same `Idempotency-Key`, waiting longer each time. If it persists, give the operator the `request_id`.',
    retry: 'Yes. With an `Idempotency-Key`, it takes effect at most once.',
    example: new ApiError('internal_error', 'Something went wrong on our side. Quote the request id when you contact support.'),
  },
}

/** What the `reason` of an error tells a program beyond its code. */
export const REASONS: Record<ErrorReason, string> = {
  route: 'No operation has this path.',
  method: 'The path exists, the method does not.',
  key_missing: 'There is no `Authorization` header.',
  key_malformed: 'The `Authorization` header is not one bearer key.',
  key_invalid: 'The key is unknown or archived.',
  user_token_missing: 'The operation speaks for a user and needs `X-Service-User-Token`.',
  user_token_invalid: 'The user token is not one of this project, or its user or the key that minted it is gone.',
  user_token_expired: 'The user token has expired.',
  key_kind: 'Another kind of key is needed.',
  not_publishable: 'A publishable key cannot be used here.',
  role: 'The role of the key is too low.',
  system_key: 'The key is managed by the system.',
  other_user: 'The user token speaks for somebody else.',
  in_progress: 'The first request with this `Idempotency-Key` is still running.',
  different_request: 'The `Idempotency-Key` belongs to another request.',
  body_too_large: 'The body is larger than allowed.',
  media_type: 'The media type, charset or encoding of the body is not taken.',
  policy: 'The address is one that the server does not connect to.',
}
