/**
 * The 16 error codes, their HTTP status, and the one error class that carries them (D-ERR-1, D-ERR-2).
 * Any other error is a bug; the caller gets `internal_error`.
 */

/** Every code of the specification, with its HTTP status. */
export const ERROR_STATUS = {
  resource_missing: 404,
  resource_already_exists: 409,
  parameter_missing: 400,
  parameter_invalid_empty: 400,
  parameter_invalid_format: 400,
  parameter_unknown: 400,
  validation_failed: 422,
  authentication_required: 401,
  permission_denied: 403,
  idempotency_key_mismatch: 409,
  rate_limited: 429,
  version_unsupported: 400,
  version_required: 400,
  webhook_signature_invalid: 400,
  quota_exceeded: 429,
  internal_error: 500,
} as const

export type ErrorCode = keyof typeof ERROR_STATUS

/** The machine-readable `reason`s of D-ERR-1. The list is closed. */
export type ErrorReason =
  | 'route'
  | 'method'
  | 'key_missing'
  | 'key_malformed'
  | 'key_invalid'
  | 'user_token_missing'
  | 'user_token_invalid'
  | 'user_token_expired'
  | 'session_missing'
  | 'session_invalid'
  | 'sign_in_failed'
  | 'code_required'
  | 'code_invalid'
  | 'passkey_required'
  | 'passkey_invalid'
  | 'single_sign_on'
  | 'link_invalid'
  | 'key_kind'
  | 'not_publishable'
  | 'role'
  | 'project'
  | 'system_key'
  | 'other_user'
  | 'in_progress'
  | 'changed'
  | 'different_request'
  | 'body_too_large'
  | 'body_too_slow'
  | 'media_type'
  | 'policy'
  | 'overloaded'
  | 'origin'
  | 'new_event_names'
  | 'new_event_data_keys'
  | 'new_attributes'

/** One problem of a request. `param` follows the grammar of D-ERR-1, such as `[3].email`. */
export type Fault = { code: ErrorCode; param?: string; message: string }

/** The fault at another param, which its message then names. */
export const faultAt = (fault: Fault, param: string): Fault => ({
  ...fault,
  param,
  // A function rather than a text: the caller chooses names, and `$&` in one would insert the match again.
  message: fault.message.replace(`\`${fault.param}\``, () => `\`${param}\``),
})

export type ApiErrorOptions = {
  param?: string
  reason?: ErrorReason
  /** Overrides the status of the code, for the HTTP errors of D-ERR-2 (405, 408, 412, 413, 415, 503). */
  status?: number
  headers?: Record<string, string>
  faults?: Fault[]
}

/** A mistake of the caller, or a planned refusal. The message is shown to the caller: say what to do, and nothing about our code. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly param: string | undefined
  readonly reason: ErrorReason | undefined
  readonly headers: Record<string, string>
  readonly faults: Fault[]

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message)
    this.name = 'ApiError'
    this.code = code
    this.status = options.status ?? ERROR_STATUS[code]
    this.param = options.param
    this.reason = options.reason
    this.headers = options.headers ?? {}
    this.faults = options.faults ?? []
  }
}

const FAULTS_MAX = 100

/** What several faults of one code have in common, for the summary. */
const IN_COMMON: Partial<Record<ErrorCode, string>> = {
  parameter_missing: 'are missing',
  parameter_invalid_empty: 'are empty',
  parameter_unknown: 'are not recognised',
}

/**
 * One error for all faults of a request (D-VAL-2), with their common code, or `validation_failed` if the codes differ.
 * `faults` must not be empty.
 */
export function faultsError(faults: Fault[], options: ApiErrorOptions = {}): ApiError {
  const [first] = faults
  if (!first) throw new Error('faultsError needs at least one fault')
  const sameCode = faults.every((fault) => fault.code === first.code)
  const problem = (sameCode && IN_COMMON[first.code]) || 'are invalid'
  const message = faults.length === 1 ? first.message : `${faults.length} parameters ${problem}.`
  return new ApiError(sameCode ? first.code : 'validation_failed', message, {
    ...options,
    faults: faults.slice(0, FAULTS_MAX),
    ...(faults.length === 1 && first.param !== undefined && { param: first.param }),
  })
}

/** Throws if there are faults. */
export function refuse(faults: Fault[]): void {
  if (faults.length > 0) throw faultsError(faults)
}

/** An error about one parameter. */
export function fault(code: ErrorCode, param: string, message: string): ApiError {
  return faultsError([{ code, param, message }])
}

/** The fault of a parameter whose value is not the id of `what`, such as `a list`. */
export const notOfProject = (param: string, what: string): Fault => ({
  code: 'validation_failed',
  param,
  message: `The value of \`${param}\` is not ${what} of this project.`,
})

/** The path contains an id that does not exist, was archived, or belongs to another project; callers cannot tell which. */
export function missing(what: string): ApiError {
  return new ApiError('resource_missing', `No ${what} with that identifier exists in this project.`)
}
