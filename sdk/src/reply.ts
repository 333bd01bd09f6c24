/** How replies are read. What is not a reply of the API, such as the sign-in page of a proxy, is a `CarillonError` too. */
import { CarillonError, type ErrorBody } from './error.ts'

/**
 * Reads a reply to its end. Rejects with a `CarillonError` if it is not a success of the API, or the connection breaks, and with the reason of
 * the signal if that ends the request. Redirects must not have been followed: after one, a POST is a GET.
 */
export async function readReply(asked: Promise<Response>, signal?: AbortSignal): Promise<{ reply: Response; text: string }> {
  const { reply, text } = await textOf(asked).catch((error: unknown) => {
    if (signal?.aborted) throw signal.reason
    throw new CarillonError({ status: 0, body: null, requestId: null, cause: error })
  })
  if (isRedirect(reply)) throw foreignOf(reply, redirectOf(reply))
  if (!reply.ok) throw errorOf(reply, errorBodyOf(text))
  if (!isOfApi(reply)) throw foreignOf(reply, `Something other than Carillon answered with ${reply.status}`)
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

const REDIRECTS = [301, 302, 303, 307, 308]

/** The API never redirects. Browsers hide the status and the address of a redirect that is not followed. */
const isRedirect = ({ type, status }: Response): boolean => type === 'opaqueredirect' || REDIRECTS.includes(status)

const redirectOf = ({ headers }: Response): string => {
  const location = headers.get('location')
  return `The server redirects${location === null ? '' : ` to \`${location}\``}, and Carillon does not`
}

/** Each reply of the API names its version, to pages of other origins too. */
const isOfApi = ({ headers }: Response): boolean => headers.has('service-version')

const foreignOf = ({ status, headers }: Response, what: string) => {
  const message = `${what}. Check the address of the server (\`baseUrl\`), and whether a proxy asks for a sign-in.`
  return new CarillonError({ status, body: null, requestId: headers.get('x-request-id'), headers, code: 'unexpected', message })
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
    const isError =
      typeof body?.code === 'string' && typeof body.message === 'string' && typeof body.error === 'object' && body.error !== null
    return isError ? (body as ErrorBody) : null
  } catch {
    return null
  }
}
