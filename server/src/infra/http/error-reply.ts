import { ApiError, type ErrorCode } from '../../lib/errors.ts'
import { isDatabaseAway } from '../postgres/database-away.ts'
import { HandlerRefusal } from './idempotency.ts'

/** The body of an error reply, the same for every endpoint (D-ERR-1). */
export function errorReply(error: ApiError, requestId: string, baseUrl: string) {
  const { code, message, param, reason } = error
  const errors = faultsOf(error).map(({ code, param, message }) => ({ code, ...(param !== undefined && { param }), message }))
  return {
    status: 'error',
    code,
    message,
    error: {
      code,
      message,
      ...(param !== undefined && { param }),
      ...(errors.length > 0 && { errors }),
      ...(reason && { reason }),
      doc_url: `${baseUrl}/docs/errors#${code}`,
    },
    request_id: requestId,
  }
}

type Listed = { code: ErrorCode; param?: string | undefined; message: string }

/** An error about the request that was thrown without a list of faults is the one fault itself. */
const faultsOf = (error: ApiError): Listed[] => (error.faults.length === 0 && isAboutRequest(error.code) ? [error] : error.faults)

const isAboutRequest = (code: ErrorCode): boolean => code === 'validation_failed' || code.startsWith('parameter_')

/** Converts anything thrown to an `ApiError`. A bug or an unavailable database is not described to the caller. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof HandlerRefusal) return error.error
  if (isDatabaseAway(error)) {
    return new ApiError('internal_error', 'The server is temporarily unavailable. Try again in a few seconds.', {
      status: 503,
      headers: { 'retry-after': '5' },
    })
  }
  return new ApiError('internal_error', 'Something went wrong on our side. Quote the request id when you contact support.')
}
