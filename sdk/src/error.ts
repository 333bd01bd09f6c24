/** The body of an error reply. */
export type ErrorBody = {
  code: string
  message: string
  request_id: string
  error: {
    code: string
    message: string
    doc_url: string
    reason?: string
    param?: string
    errors?: { code: string; message: string; param?: string }[]
  }
}

type Given = {
  status: number
  body: ErrorBody | null
  requestId: string | null
  headers?: Headers
  /** Of an error without a body. */
  code?: string
  message?: string
  cause?: unknown
}

/**
 * A reply that is not a success of the API or cannot be read, or none at all (`status` 0: the server could not be reached, did not answer in
 * time, or redirects a browser).
 */
export class CarillonError extends Error {
  readonly status: number
  /** A finer reason than the code, such as `code_required`. */
  readonly reason: string | null
  /** One of the codes of the API; `unreachable`, `timeout` or `unexpected` where there is none. */
  readonly code: string
  readonly param: string | null
  /** Every fault of the request, by its parameter. */
  readonly faults: { message: string; param?: string }[]
  readonly requestId: string | null
  readonly docUrl: string | null
  /** The headers of the reply, such as `Retry-After`. */
  readonly headers: Headers | null

  constructor({ status, body, requestId, headers, code, message, cause }: Given) {
    super(body?.message ?? message ?? (status === 0 ? 'The server cannot be reached.' : `The server answered ${status}.`), {
      ...(cause !== undefined && { cause }),
    })
    this.name = 'CarillonError'
    this.status = status
    this.code = body?.code ?? code ?? (status === 0 ? 'unreachable' : 'unexpected')
    this.reason = body?.error.reason ?? null
    this.param = body?.error.param ?? null
    this.faults = body?.error.errors ?? (body ? [body.error] : [])
    this.requestId = body?.request_id ?? requestId
    this.docUrl = body?.error.doc_url ?? null
    this.headers = headers ?? null
  }
}
