import { ApiError } from '../../lib/errors.ts'
import { isSqlState } from '../postgres/db.ts'
import { HandlerRefusal } from './idempotency.ts'

/** The body of an error reply, the same for every endpoint (D-ERR-1). */
export function errorReply(error: ApiError, requestId: string, baseUrl: string) {
  const { code, message, param, reason, faults } = error
  const errors = faults.map(({ code, param, message }) => ({ code, ...(param !== undefined && { param }), message }))
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

const UNREACHABLE = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH'])

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

/** Did this fail because the database is unavailable? If so, the same request may succeed later. */
export function isDatabaseAway(error: unknown): boolean {
  if (isSqlState(error, '57P01', '57P02', '57P03', '53300', '08000', '08003', '08006')) return true
  if (!(error instanceof Error)) return false
  const { code } = error as { code?: string }
  if (code && UNREACHABLE.has(code)) return true
  return /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/.test(error.message)
}
