/** How replies are read. What is not a reply of the API, such as that of a proxy, is a `CarillonError` too. */
import { CarillonError, type ErrorBody } from './error.ts'

/**
 * Reads a reply to its end. Rejects with a `CarillonError` if it is not a success, or the connection breaks, and with the reason of the
 * signal if that ends the request.
 */
export async function readReply(asked: Promise<Response>, signal?: AbortSignal): Promise<{ reply: Response; text: string }> {
  const { reply, text } = await textOf(asked).catch((error: unknown) => {
    if (signal?.aborted) throw signal.reason
    throw new CarillonError({ status: 0, body: null, requestId: null, cause: error })
  })
  if (!reply.ok) throw errorOf(reply, errorBodyOf(text))
  return { reply, text }
}

/** Parses the JSON of a reply. Throws a `CarillonError` if it is malformed. */
export function jsonOf(reply: Response, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw errorOf(reply, null)
  }
}

async function textOf(asked: Promise<Response>) {
  const reply = await asked
  return { reply, text: await reply.text() }
}

const errorOf = ({ status, headers }: Response, body: ErrorBody | null) =>
  new CarillonError({ status, body, requestId: headers.get('x-request-id'), headers })

/** The body of an error of the API; null if it is something else. */
function errorBodyOf(text: string): ErrorBody | null {
  try {
    const body = JSON.parse(text) as Partial<ErrorBody> | null
    const isOfApi =
      typeof body?.code === 'string' && typeof body.message === 'string' && typeof body.error === 'object' && body.error !== null
    return isOfApi ? (body as ErrorBody) : null
  } catch {
    return null
  }
}
