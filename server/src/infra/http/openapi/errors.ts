/** The error catalogue: what each code means, what to do, and whether a retry can succeed (D-ERR-2). */

import { unauthenticated } from '../../../lib/credentials.ts'
import { ApiError, type ErrorCode, type ErrorReason, fault } from '../../../lib/errors.ts'

export type ErrorEntry = {
  meaning: string
  action: string
  /** Can the same request succeed later? */
  retry: string
  /** An error that the server can throw. */
  example: ApiError
}

const NO_RETRY = 'No. The same request gets the same reply.'

export const ERRORS: Record<ErrorCode, ErrorEntry> = {
  resource_missing: {
    meaning:
      'The path does not exist, or this key cannot see a resource with the identifier in the path. A resource that was archived, or that belongs to another project, gets the same reply as one that never existed.',
    action:
      'Check the identifier and the project that the key belongs to. With status 405, the path exists but does not support this method; the `Allow` header lists the methods.',
    retry: 'No, unless the resource is about to be created.',
    example: new ApiError('resource_missing', 'No user with that identifier exists in this project.'),
  },
  resource_already_exists: {
    meaning: 'Another resource already has a value that must be unique.',
    action: 'Use the existing resource, or choose another value.',
    retry: NO_RETRY,
    example: new ApiError('resource_already_exists', 'A subscription type with this name and channel already exists.'),
  },
  parameter_missing: {
    meaning: 'A required parameter, or the whole body, is missing.',
    action: 'Send the parameter in `param`.',
    retry: NO_RETRY,
    example: fault('parameter_missing', 'name', 'The required parameter `name` is missing.'),
  },
  parameter_invalid_empty: {
    meaning: 'A parameter that needs a value is empty, or only white space.',
    action: 'Send a value, or leave the parameter out if it is optional.',
    retry: NO_RETRY,
    example: fault('parameter_invalid_empty', 'event_types', 'The parameter `event_types` must contain at least one value.'),
  },
  parameter_invalid_format: {
    meaning:
      'A value has the wrong type or format: a number instead of text, null where it is not allowed, a value that is not one of those allowed, a malformed address, or malformed JSON. With status 415, the media type of the body is wrong.',
    action: 'Correct the parameter in `param`. The message describes the format.',
    retry: NO_RETRY,
    example: fault('parameter_invalid_format', 'url', 'The value of `url` must be a URL that starts with `https://`.'),
  },
  parameter_unknown: {
    meaning:
      'The body, the query or the form contains a parameter that this operation does not have. Unknown parameters are never ignored, so that a misspelt name cannot lose data.',
    action:
      'Look for a typing error. If you send back a resource that you read, leave out read-only members such as `id` and `created_at`.',
    retry: NO_RETRY,
    example: fault('parameter_unknown', 'emial', 'Unrecognised parameter `emial`.'),
  },
  validation_failed: {
    meaning:
      'The request is well-formed but breaks a rule about a length, a range, a count, related fields, or the state of the resource. The code is also used when a request has several faults with different codes. With status 412, the object is not the version that the request names. With 413, the body is too large. With 408, the body took too long to arrive.',
    action: 'Read `error.errors`. It lists every fault with its parameter, so that you can correct all of them at once.',
    retry: 'No, unless the rule is about a state that can change.',
    example: fault('validation_failed', 'body', 'The parameter `body` may have at most 100 items.'),
  },
  authentication_required: {
    meaning:
      'The key or the user token is missing, malformed, expired, archived or unknown. For a well-formed key, the reply does not say whether it is archived or unknown.',
    action: 'Send `Authorization: Bearer <key>`. If `reason` shows that the user token was refused, create a new one.',
    retry: NO_RETRY,
    example: unauthenticated('key_missing'),
  },
  permission_denied: {
    meaning: 'The key is valid but may not do this: it is of the wrong kind, or its role is too low.',
    action: 'Use a key of the kind and role that the reference lists for the operation.',
    retry: NO_RETRY,
    example: new ApiError('permission_denied', 'This key’s role does not permit this operation.', { reason: 'role' }),
  },
  idempotency_key_mismatch: {
    meaning: 'The `Idempotency-Key` was first used with a different request, or the first request with it is still running.',
    action: 'Use a new key for a new request. With the reason `in_progress`, wait for `Retry-After` and send the same request again.',
    retry: 'With the reason `in_progress`, yes. With `different_request`, no.',
    example: new ApiError('idempotency_key_mismatch', 'This Idempotency-Key was first used with a different request.', {
      reason: 'different_request',
    }),
  },
  rate_limited: {
    meaning: 'Too many requests in a short time.',
    action: 'Wait for the number of seconds in `Retry-After`. The `RateLimit` header of every reply shows how many requests are left.',
    retry: 'Yes, after `Retry-After`.',
    example: new ApiError('rate_limited', 'Too many requests. Retry after 3 seconds.'),
  },
  version_unsupported: {
    meaning: 'The `Service-Version` header contains a version that is not supported.',
    action: 'Use one of the versions in the message, or leave the header out.',
    retry: NO_RETRY,
    example: new ApiError('version_unsupported', 'Version `2019-01-01` is not supported. Use `2026-11-20`.', { param: 'Service-Version' }),
  },
  version_required: {
    meaning: 'The `Service-Version` header is empty, or is missing and the server requires it.',
    action: 'Send the version that your code was written for.',
    retry: NO_RETRY,
    example: new ApiError('version_required', 'Send a Service-Version header such as `2026-11-20`.', { param: 'Service-Version' }),
  },
  webhook_signature_invalid: {
    meaning: 'A signed report from a provider could not be verified.',
    action: 'Check the signing secret that the provider uses.',
    retry: NO_RETRY,
    example: new ApiError('webhook_signature_invalid', 'The webhook signature could not be verified.'),
  },
  quota_exceeded: {
    meaning: 'A quota has been reached, such as the maximum number of resources of a kind, or of calls in a month.',
    action: 'Remove resources that are not needed, or ask the operator for a higher quota.',
    retry: 'Yes, if the reply has a `Retry-After` header: the quota is renewed after that time. Otherwise, no.',
    example: new ApiError('quota_exceeded', 'A project may have at most 200 keys. Archive one first.'),
  },
  internal_error: {
    meaning: 'Something went wrong on the server. With status 503, it is temporarily unavailable.',
    action:
      'Try again with the same `Idempotency-Key`, and wait longer each time. If the error persists, send the `request_id` to the operator.',
    retry: 'Yes. With an `Idempotency-Key`, the request takes effect at most once.',
    example: new ApiError('internal_error', 'Something went wrong on our side. Quote the request id when you contact support.'),
  },
}

/** The meaning of each `reason` of an error. */
export const REASONS: Record<ErrorReason, string> = {
  route: 'This path does not exist.',
  method: 'The path exists, but does not support this method.',
  key_missing: 'The `Authorization` header is missing, or has no key.',
  key_malformed: 'The `Authorization` header does not contain exactly one bearer key.',
  key_invalid: 'The key is unknown or archived.',
  user_token_missing: 'The operation needs a user token in `X-Service-User-Token`.',
  user_token_invalid: 'The user token does not belong to this project, or its user or the key that created it no longer exists.',
  user_token_expired: 'The user token has expired.',
  session_missing: 'The operation needs a console session.',
  session_invalid: 'The console session has ended or is unknown.',
  sign_in_failed: 'The email address or the password is wrong.',
  code_required: 'The sign-in needs a second-factor code.',
  code_invalid: 'The second-factor code is wrong or was used before.',
  passkey_required: 'The password is correct, but the member must sign in with a passkey or enter a recovery code.',
  passkey_invalid: 'The passkey is unknown or was removed, or its signature is wrong.',
  single_sign_on: 'The single sign-on provider did not confirm the sign-in, or members can sign in only through it.',
  link_invalid: 'The link was used, has expired or never existed.',
  key_kind: 'The operation needs another kind of key.',
  not_publishable: 'A publishable key cannot be used here.',
  role: 'The role of the key or member is too low.',
  project: 'The project in `Carillon-Project` does not exist, or the member has no role in it.',
  system_key: 'The key is managed by the system.',
  other_user: 'The user token belongs to another user.',
  changed: 'The object is not the version that `If-Match` or `If-None-Match` names.',
  in_progress: 'The first request with this `Idempotency-Key` is still running.',
  different_request: 'The `Idempotency-Key` belongs to another request.',
  body_too_large: 'The body is larger than allowed.',
  body_too_slow: 'The body took longer to arrive than allowed.',
  media_type: 'The media type, charset or encoding of the body is not supported.',
  overloaded: 'The server is overloaded and refuses requests that can wait, including this one.',
  origin: 'The publishable key or the console session cannot be used from this origin.',
  new_event_names: 'Publishable keys have reached today’s limit on new event names in the project.',
  new_event_data_keys: 'Publishable keys have reached today’s limit on new event data keys in the project.',
  new_attributes: 'Publishable keys have reached today’s limit on new user attributes in the project.',
  policy: 'The server is not allowed to connect to this address.',
}
