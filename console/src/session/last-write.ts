/** The last write of this page as the API was asked for it, so that screens can offer it as code. */
import type { Asked, Client } from '@carillon/sdk'

export type Write = {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** As the API names it, such as `/api/client/users/{userId}`. */
  path: string
  params?: Record<string, string | number>
  query?: Record<string, string | number | boolean | undefined>
  body?: unknown
}

type Given = { path?: Write['params']; query?: Write['query']; body?: unknown }

/** These are sent with a body, and save nothing. */
const READS = ['/api/client/lists/preview', '/api/client/users/search']

let last: Write | null = null
let ofSaid: Write | null = null

/** The last write that succeeded. Null if it cannot be shown as code, because it sent a file. */
export const lastWrite = (): Write | null => last

/** The write that a toast shown now is about. */
export const writeOfSaid = (): Write | null => ofSaid

/** Runs the function that follows a write. A toast that it shows offers that write as code. */
export function saying(write: Write | null, run: () => unknown): unknown {
  ofSaid = write
  try {
    return run()
  } finally {
    ofSaid = null
  }
}

/** The client, which also remembers its last successful write, without its headers, such as `Idempotency-Key` and `If-Match`. */
export function keepingLastWrite(client: Client): Client {
  const kept =
    (method: Write['method']) =>
    (path: string, options: Given = {}) => {
      const send = client[method.toLowerCase() as Lowercase<Write['method']>] as (path: string, options: object) => Asked<unknown>
      const asked = send(path, options)
      // Of a failure, the caller learns from the promise itself.
      asked.then(
        () => keep({ method, path }, options),
        () => undefined,
      )
      return asked
    }
  return { ...client, post: kept('POST'), put: kept('PUT'), patch: kept('PATCH'), delete: kept('DELETE') } as Client
}

function keep(write: Pick<Write, 'method' | 'path'>, { path: params, query, body }: Given): void {
  if (READS.includes(write.path)) return
  last = body instanceof Blob ? null : { ...write, ...(params && { params }), ...(query && { query }), ...(body !== undefined && { body }) }
}
